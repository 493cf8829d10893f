// What makes the planning of a scene nicer: names complete one after the other, a plan's file is read here and
// dropped anywhere, receipts are sorted and filtered. Texts are only ever set as text.
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

const readInto = async (file, area) => {
  if (!file) return;
  area.value = await file.text();
  area.form.requestSubmit();
};
for (const input of document.querySelectorAll("input[data-reads-into]")) {
  const area = document.getElementById(input.dataset.readsInto);
  input.addEventListener("change", () => readInto(input.files[0], area));
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
    readInto(event.dataTransfer.files[0], area);
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
