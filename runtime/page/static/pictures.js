// Relationships, timeline and threads work without this script: with it the view follows the slider while it moves,
// who is pointed at in the graph stands out, and a thread can be dragged to its end. Texts are only ever set as text.
"use strict";

const follow = () => {
  const moved = document.getElementById("known");
  if (!moved || !document.querySelector("[data-live]")) return;
  let asked = null;
  moved.addEventListener("input", async () => {
    asked?.abort();
    const now = new AbortController();
    asked = now;
    const live = document.querySelector("[data-live]");
    live.setAttribute("aria-busy", "true");
    try {
      const address = `${moved.form.action}?${new URLSearchParams(new FormData(moved.form))}`;
      const answer = await fetch(address, { signal: now.signal });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.querySelector("[data-live]");
      if (fresh && asked === now) {
        live.replaceWith(document.adoptNode(fresh));
        wake();
      }
    } catch (error) {
      if (error.name !== "AbortError") live.removeAttribute("aria-busy");
    }
  });
};

const standOut = () => {
  for (const graph of document.querySelectorAll("svg.graph")) standOutIn(graph);
};

const standOutIn = (graph) => {
  const arrows = [...graph.querySelectorAll(".arrow")];
  for (const person of graph.querySelectorAll("[data-who]")) {
    const who = person.dataset.who;
    const look = (isLooking) => {
      graph.classList.toggle("looking", isLooking);
      for (const arrow of arrows) {
        arrow.classList.toggle("lit", isLooking && [arrow.dataset.from, arrow.dataset.to].includes(who));
      }
    };
    for (const event of ["mouseenter", "focus"]) person.addEventListener(event, () => look(true));
    for (const event of ["mouseleave", "blur"]) person.addEventListener(event, () => look(false));
  }
};

// The wheel makes the graph larger and smaller around the pointer; a double click shows all of it again.
const zoom = () => {
  for (const graph of document.querySelectorAll("svg.graph")) zoomIn(graph);
};

const zoomIn = (graph) => {
  const whole = graph.viewBox.baseVal;
  const [fullWidth, fullHeight] = [whole.width, whole.height];
  const show = (x, y, width) => {
    const height = (width * fullHeight) / fullWidth;
    const within = (value, room) => Math.max(0, Math.min(value, room));
    graph.setAttribute(
      "viewBox",
      `${within(x, fullWidth - width)} ${within(y, fullHeight - height)} ${width} ${height}`,
    );
  };
  graph.addEventListener(
    "wheel",
    (event) => {
      const { x, y, width, height } = graph.viewBox.baseVal;
      const larger = Math.max(fullWidth / 6, Math.min(fullWidth, width * (event.deltaY > 0 ? 1.2 : 1 / 1.2)));
      if (larger === width) return;
      event.preventDefault();
      const box = graph.getBoundingClientRect();
      const across = (event.clientX - box.left) / box.width;
      const down = (event.clientY - box.top) / box.height;
      show(x + across * (width - larger), y + down * (height - (larger * fullHeight) / fullWidth), larger);
    },
    { passive: false },
  );
  graph.addEventListener("dblclick", () => show(0, 0, fullWidth));
};

// The latest scenes are those one works on: a stretch that is wider than the window is shown from its end.
const showTheEnd = () => {
  for (const wide of document.querySelectorAll("[data-at-end]")) wide.scrollLeft = wide.scrollWidth;
};

const dragToTheEnd = () => {
  const dialog = document.getElementById("end-dialog");
  if (!dialog) return;
  const cards = document.querySelectorAll("[data-thread][draggable]");
  const hint = document.querySelector(".drag-hint");
  if (hint) hint.hidden = cards.length === 0;
  const board = document.querySelector(".board");
  for (const card of cards) {
    card.addEventListener("dragstart", (event) => {
      event.dataTransfer.setData("text/plain", card.dataset.thread);
      event.dataTransfer.effectAllowed = "move";
      board.classList.add("dragging");
    });
    card.addEventListener("dragend", () => board.classList.remove("dragging"));
  }
  for (const column of document.querySelectorAll("[data-drop]")) {
    column.addEventListener("dragover", (event) => {
      event.preventDefault();
      column.classList.add("under");
    });
    column.addEventListener("dragleave", () => column.classList.remove("under"));
    column.addEventListener("drop", (event) => {
      event.preventDefault();
      column.classList.remove("under");
      const id = event.dataTransfer.getData("text/plain");
      const card = [...cards].find((each) => each.dataset.thread === id);
      if (!card) return;
      const form = dialog.querySelector("form");
      form.elements.loop_id.value = id;
      form.elements.ending.value = column.dataset.drop;
      dialog.querySelector("[data-what]").textContent = card.querySelector(".what").textContent;
      dialog.showModal();
      form.elements.summary.focus();
    });
  }
};

document.querySelector("#end-dialog [data-close]")?.addEventListener("click", (event) => {
  event.target.closest("dialog").close();
});

const wake = () => {
  standOut();
  zoom();
  dragToTheEnd();
  showTheEnd();
};

follow();
wake();
