// The story works without this script: it keeps the place on the page over a change, goes from fact to fact by keys,
// takes the words of a new fact from the text, and follows a reading by a model. Texts are only ever set as text.
"use strict";

const inSight = (element) => element?.scrollIntoView({ block: "nearest", inline: "nearest" });

// Of a long book the chapter that is read stands far down its list.
const chapters = document.querySelector("nav.chapters");
const opened = chapters?.querySelector("strong");
if (opened) chapters.scrollTop += opened.getBoundingClientRect().top - chapters.getBoundingClientRect().top - 60;

// A change answers with the same page: it opens where the reader was, not at its head.
const PLACE = "novelgen-place";
const aside = document.querySelector("aside.beside");
const keepPlace = () => {
  const place = { path: location.pathname, x: window.scrollX, y: window.scrollY, beside: aside?.scrollTop ?? 0 };
  sessionStorage.setItem(PLACE, JSON.stringify(place));
};
for (const form of document.querySelectorAll("form[data-keep]")) form.addEventListener("submit", keepPlace);
for (const link of document.querySelectorAll("a[data-keep]")) link.addEventListener("click", keepPlace);
const kept = JSON.parse(sessionStorage.getItem(PLACE) ?? "null");
sessionStorage.removeItem(PLACE);
const isBack = kept?.path === location.pathname;
const arrive = () => {
  if (isBack) {
    window.scrollTo({ left: kept.x, top: kept.y, behavior: "instant" });
    if (aside) aside.scrollTop = kept.beside;
  }
  // Whoever opened a form wants to write in it, and after a change one stands at the fact.
  const named = location.hash ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  const at = document.getElementById("edit-text") ?? (isBack ? named?.closest("li") : null);
  at?.focus({ preventScroll: isBack });
  if (isBack) inSight(at);
};
// Going to the element that the address names, a browser takes the focus away; this comes after it.
window.addEventListener("load", () => requestAnimationFrame(() => setTimeout(arrive)));

// Words and facts bring each other into sight; a tap lights them as a pointer does.
const factOf = (number) => document.querySelector(`li[data-note="${CSS.escape(number)}"]`);
for (const mark of document.querySelectorAll("mark[data-notes]")) {
  mark.addEventListener("click", () => {
    if (!document.getSelection().isCollapsed) return;
    const fact = factOf(mark.dataset.notes.split(" ")[0]);
    fact?.focus({ preventScroll: true });
    inSight(fact);
  });
}

// Keys, which can be turned off: who dictates or uses a screen reader has them for other things.
const KEYS = "novelgen-keys";
const help = document.querySelector("[data-keys]");
const areOn = () => localStorage.getItem(KEYS) !== "off";
if (help) {
  const button = help.querySelector("button");
  const tell = () => {
    button.textContent = areOn() ? button.dataset.on : button.dataset.off;
  };
  button.addEventListener("click", () => {
    localStorage.setItem(KEYS, areOn() ? "off" : "on");
    tell();
  });
  tell();
  help.hidden = false;
}
const facts = [...document.querySelectorAll("li[data-note]")];
const move = (by) => {
  const at = facts.findIndex((fact) => fact.contains(document.activeElement));
  const next = facts[at < 0 ? (by > 0 ? 0 : facts.length - 1) : at + by];
  if (!next) return;
  next.focus({ preventScroll: true });
  inSight(next);
  inSight(document.querySelector(`mark[data-notes~="${CSS.escape(next.dataset.note)}"]`));
};
const follow = (selector) => document.querySelector(selector)?.click();
const ACTIONS = {
  j: () => move(1),
  k: () => move(-1),
  n: () => follow("nav.turn a[rel=next]"),
  p: () => follow("nav.turn a[rel=prev]"),
  e: () => {
    const link = document.activeElement?.closest("li[data-note]")?.querySelector("details.change a[data-keep]");
    link?.click();
  },
};
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
  if (!help || !areOn() || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = ACTIONS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

// Words of a new fact are chosen in the text; the numbers of facts are no words of it.
const text = document.querySelector("article .text");
const fromWords = document.querySelector("[data-from-words]");
const chosenWords = () => {
  const selection = document.getSelection();
  if (!text || selection.isCollapsed || !selection.rangeCount) return "";
  const range = selection.getRangeAt(0);
  if (!text.contains(range.commonAncestorContainer)) return "";
  const words = range.cloneContents();
  for (const number of words.querySelectorAll("sup")) number.remove();
  const lines = [...words.querySelectorAll("p")].map((line) => line.textContent);
  return (lines.length ? lines.join("\n") : words.textContent).trim();
};
if (fromWords) {
  document.addEventListener("selectionchange", () => {
    fromWords.hidden = chosenWords() === "";
  });
  // The button must not take the selection away before it is read.
  fromWords.addEventListener("pointerdown", (event) => event.preventDefault());
  fromWords.addEventListener("click", () => {
    const words = chosenWords();
    const edited = document.querySelector("#edit-evidence");
    const evidence = edited ?? document.querySelector("#add-evidence");
    if (!edited) document.getElementById("add-fact").open = true;
    evidence.value = words;
    const field = document.querySelector(edited ? "#edit-text" : "#add-text");
    field.focus();
    inSight(field.form);
    fromWords.hidden = true;
  });
}

// A reading by a model: the page opens anew when it is over.
const reading = document.querySelector("[data-job]");
if (reading) {
  const bar = reading.querySelector("progress");
  const look = async () => {
    const answer = await fetch(reading.dataset.job);
    if (!answer.ok) return;
    const job = await answer.json();
    bar.max = Math.max(job.total, 1);
    bar.value = job.done;
    if (["done", "failed", "cancelled", "interrupted"].includes(job.state)) {
      keepPlace();
      location.reload();
    } else {
      setTimeout(look, 1000);
    }
  };
  look();
}
