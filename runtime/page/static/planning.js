// What makes planning and checking nicer: names complete one after the other, files are read here and dropped
// anywhere, receipts are sorted and filtered, findings are stepped through, and a draft outlives an accident.
// Texts are only ever set as text.
"use strict";

for (const element of document.querySelectorAll("[data-needs-script]")) element.hidden = false;

// A list of names: each completes what stands after the last comma, and keeps what stands before it.
for (const input of document.querySelectorAll("input[data-complete]")) {
  const names = [...document.getElementById(input.dataset.complete).options].map((option) => option.value);
  const offered = document.createElement("datalist");
  offered.id = `${input.dataset.complete}-so-far`;
  input.after(offered);
  input.setAttribute("list", offered.id);
  const offer = () => {
    const head = input.value.match(/^.*[,，、;；]\s*/)?.[0] ?? "";
    const said = head.split(/[,，、;；]/).map((name) => name.trim());
    const free = names.filter((name) => !said.includes(name)).slice(0, 60);
    offered.replaceChildren(
      ...free.map((name) => {
        const option = document.createElement("option");
        option.value = head + name;
        return option;
      }),
    );
  };
  input.addEventListener("input", offer);
  offer();
}

const readInto = async (file, area, isOnlyRead) => {
  if (!file) return;
  const form = new FormData();
  form.append("files", file);
  const answer = await fetch("/page/text", { method: "POST", body: form });
  const text = await answer.text();
  if (!answer.ok) {
    const problem = new DOMParser().parseFromString(text, "text/html").querySelector("[role=alert], main p");
    area.setCustomValidity(problem?.textContent.trim() || answer.statusText);
    area.reportValidity();
    area.addEventListener("input", () => area.setCustomValidity(""), { once: true });
    return;
  }
  area.setCustomValidity("");
  area.value = text;
  area.dispatchEvent(new Event("input", { bubbles: true }));
  if (isOnlyRead) area.focus();
  else area.form.requestSubmit();
};
for (const input of document.querySelectorAll("input[data-reads-into]")) {
  const area = document.getElementById(input.dataset.readsInto);
  const isOnlyRead = "onlyReads" in input.dataset;
  input.addEventListener("change", () => readInto(input.files[0], area, isOnlyRead));
  document.addEventListener("dragover", (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    document.body.classList.add("drops");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("drops");
  });
  document.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    document.body.classList.remove("drops");
    area.closest("details").open = true;
    readInto(event.dataTransfer.files[0], area, isOnlyRead);
  });
}

for (const button of document.querySelectorAll("button[data-copy-from]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const answer = await fetch(button.dataset.copyFrom);
    if (!answer.ok) return;
    await navigator.clipboard.writeText(await answer.text());
    button.textContent = button.dataset.copied;
  });
}

const receipts = [...document.querySelectorAll("ol.receipts li[data-order]")];
const sorting = document.querySelector("[data-sorts]");
const filtering = document.querySelector("[data-filters]");
const counted = document.querySelector("[data-counts]");
sorting?.addEventListener("change", () => {
  const key = sorting.value;
  const sign = key === "score" || key === "tokens" ? -1 : 1;
  for (const list of new Set(receipts.map((receipt) => receipt.parentElement))) {
    list.append(...[...list.children].sort((one, other) => sign * (one.dataset[key] - other.dataset[key])));
  }
});
filtering?.addEventListener("input", () => {
  const wanted = filtering.value.trim().toLowerCase();
  for (const receipt of receipts) receipt.hidden = !receipt.textContent.toLowerCase().includes(wanted);
  for (const need of document.querySelectorAll("details.need")) need.open ||= Boolean(wanted);
  const shown = receipts.filter((receipt) => !receipt.hidden).length;
  counted.textContent = wanted
    ? counted.dataset.words.replace("{shown}", shown).replace("{count}", receipts.length)
    : "";
});

// The heading on top of a text is its title where no other one is given: it is shown as that while one writes.
const ON_TOP = /^\s*(?:#{1,6}\s+(.+?)|(第\s*\S{1,12}\s*[章回](?:[\s:：].*)?|chapter\s+\w+\b.{0,60}))\s*(?:\n|$)/i;
for (const area of document.querySelectorAll("textarea[data-titles]")) {
  area.addEventListener("input", () => {
    const heading = area.value.match(ON_TOP);
    document.getElementById(area.dataset.titles).placeholder = heading?.[1] ?? heading?.[2] ?? "";
  });
}

// A draft stays in this tab until it was checked: a server that does not answer must not cost it.
for (const area of document.querySelectorAll("textarea[data-keeps]")) {
  const key = `novelgen-draft-${area.dataset.keeps}`;
  if (area.value) sessionStorage.removeItem(key);
  else area.value = sessionStorage.getItem(key) ?? "";
  area.addEventListener("input", () => {
    try {
      sessionStorage.setItem(key, area.value);
    } catch {
      // No room in the tab; the draft is where it came from.
    }
  });
}

const findings = [...document.querySelectorAll("li.finding")];
let at = -1;
const step = (by) => {
  at = (at + by + findings.length) % findings.length;
  const number = findings[at].dataset.note;
  findings[at].focus({ preventScroll: true });
  findings[at].scrollIntoView({ block: "nearest" });
  document.getElementById(`words-${number}`)?.scrollIntoView({ block: "center" });
};
for (const [place, finding] of findings.entries()) {
  finding.addEventListener("focusin", () => (at = place));
}
for (const button of document.querySelectorAll("button[data-step]")) {
  button.addEventListener("click", () => step(at < 0 && button.dataset.step < 0 ? 0 : Number(button.dataset.step)));
}
// Only within the findings, so that no key is taken from whoever reads or writes elsewhere.
document.querySelector(".reader.findings")?.addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!findings.length || (event.key !== "n" && event.key !== "p")) return;
  event.preventDefault();
  step(event.key === "n" ? 1 : -1);
});
// A tap on marked words leads to what is said about them.
for (const mark of document.querySelectorAll(".reader.findings mark[data-notes]")) {
  mark.addEventListener("click", () => {
    at = findings.findIndex((finding) => finding.dataset.note === mark.dataset.notes.split(" ")[0]);
    findings[at]?.focus();
  });
}

const awaited = document.querySelector("[data-awaits]");
if (awaited) {
  const look = async () => {
    const answer = await fetch(awaited.dataset.awaits);
    const job = answer.ok ? await answer.json() : null;
    if (job && ["waiting", "running", "cancelling"].includes(job.state)) setTimeout(look, 1500);
    else location.reload();
  };
  setTimeout(look, 700);
}

// How long a text is, as platforms count it: every Chinese character is a word, and so is every run of other letters.
for (const area of document.querySelectorAll("textarea[data-counted]")) {
  const told = document.getElementById(area.dataset.counted);
  const tell = () => {
    const chinese = area.value.match(/[\u3400-\u9fff\uf900-\ufaff]/g)?.length ?? 0;
    const rest = area.value.replace(/[\u3400-\u9fff\uf900-\ufaff]/g, " ");
    const others = rest.match(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)?.length ?? 0;
    told.textContent = told.dataset.words.replace("{count}", (chinese + others).toLocaleString());
    told.hidden = !area.value;
  };
  area.addEventListener("input", tell);
  tell();
}
