// The page works without this script: it names the place while the slider moves, lights up what belongs together,
// and copies the prompt. Texts are only ever set as text.
"use strict";

const slider = document.getElementById("known");
if (slider) {
  const told = document.getElementById("told");
  const gone = slider.parentElement.querySelector(".gone");
  let places = null;
  const load = async () => {
    if (places !== null) return;
    places = [];
    const answer = await fetch(slider.dataset.places);
    if (answer.ok) {
      places = (await answer.json()).places;
      tell();
    }
  };
  const tell = () => {
    const known = Number(slider.value);
    let words = slider.dataset.end;
    if (known < Number(slider.max)) {
      const place = places?.[known];
      if (!place) return;
      words = slider.dataset.entering.replace("{place}", place.join(":"));
    }
    told.textContent = words;
    slider.setAttribute("aria-valuetext", words);
  };
  slider.addEventListener("input", () => {
    load();
    tell();
    gone.setAttribute("width", slider.value);
    slider.form.classList.toggle("moved", slider.value !== slider.defaultValue);
  });
  // With a pointer the view follows at once; with the keyboard at Enter, so that arrows can go far.
  slider.addEventListener("pointerup", () => {
    if (slider.value !== slider.defaultValue) slider.form.requestSubmit();
  });
  slider.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    slider.form.requestSubmit();
  });
}

// On a narrow screen the tabs scroll sideways: the one that is open comes into sight.
for (const open of document.querySelectorAll(".views [aria-current], .tabs [aria-current]")) {
  const row = open.closest(".views, .tabs");
  row.scrollLeft = open.offsetLeft - (row.clientWidth - open.offsetWidth) / 2;
}

// A menu closes at Escape, and when one goes on elsewhere.
const menus = document.querySelectorAll("details.menu");
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of menus) {
    if (!menu.open) continue;
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
for (const kind of ["pointerdown", "focusin"]) {
  document.addEventListener(kind, (event) => {
    for (const menu of menus) if (!menu.contains(event.target)) menu.open = false;
  });
}

const numbersOf = (element) => (element.dataset.notes ?? element.dataset.note ?? "").split(" ").filter(Boolean);
const light = (numbers, isLit) => {
  for (const element of document.querySelectorAll("mark[data-notes], li[data-note]")) {
    if (numbersOf(element).some((number) => numbers.includes(number))) element.classList.toggle("lit", isLit);
  }
};
for (const element of document.querySelectorAll("[data-notes], [data-note]")) {
  const numbers = numbersOf(element);
  for (const [event, isLit] of [["mouseenter", true], ["focusin", true], ["mouseleave", false], ["focusout", false]]) {
    element.addEventListener(event, () => light(numbers, isLit));
  }
}

for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = button.dataset.copied;
  });
}

// A browser words its button for files in its own language, not in that of the page.
for (const input of document.querySelectorAll("input[type=file][data-button]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = input.dataset.button;
  const chosen = document.createElement("span");
  const tell = () => {
    chosen.textContent = [...input.files].map((file) => file.name).join(", ") || input.dataset.none;
  };
  input.classList.add("sr-only");
  input.tabIndex = -1;
  input.before(button, " ", chosen);
  button.addEventListener("click", () => input.click());
  input.addEventListener("change", tell);
  tell();
}

// A form for what stands sends what was changed alone, so that it takes nothing back that somebody else wrote.
for (const form of document.querySelectorAll("form[data-changes]")) {
  form.addEventListener("formdata", ({ formData }) => {
    for (const field of form.elements) {
      const isText = field.matches?.("textarea, input:not([type=hidden], [type=radio], [type=checkbox])");
      if (isText && field.name && field.value === field.defaultValue) formData.delete(field.name);
    }
  });
}

// What was stored need not be kept in the tab any more.
const stored = document.querySelector("[data-clears]");
if (stored) sessionStorage.removeItem(`novelgen-draft-${stored.dataset.clears}`);
