// Files by dropping them, and jobs that move while one looks. Without this script: a form, and a page that reloads.
"use strict";

for (const form of document.querySelectorAll("form[data-drop]")) {
  const input = form.querySelector("input[type=file]");
  const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  for (const kind of ["dragenter", "dragover"]) {
    form.addEventListener(kind, (event) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      form.classList.add("over");
    });
  }
  form.addEventListener("dragleave", (event) => {
    if (!form.contains(event.relatedTarget)) form.classList.remove("over");
  });
  form.addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    form.classList.remove("over");
    input.files = event.dataTransfer.files;
    form.requestSubmit();
  });
  form.addEventListener("submit", () => form.classList.add("sending"));
}

// The preview depends on where the files go.
const target = document.querySelector("select[data-look-again]");
target?.addEventListener("change", () => target.form.requestSubmit(target.form.querySelector("[data-again]")));

const confirmed = document.querySelector("input[data-confirm]");
if (confirmed) {
  const button = confirmed.form.querySelector("button");
  const judge = () => {
    button.disabled = confirmed.value.trim() !== confirmed.dataset.confirm;
  };
  confirmed.addEventListener("input", judge);
  judge();
}

// A browser opens few connections to one server, and of one folder two jobs run at once.
const followed = [...document.querySelectorAll("[data-job]")].slice(0, 3);
for (const element of followed) {
  const events = new EventSource(`/v1/jobs/${encodeURIComponent(element.dataset.job)}/events`);
  const bar = element.querySelector("progress");
  const over = ["done", "failed", "cancelled", "interrupted"];
  events.addEventListener("job", (event) => {
    const job = JSON.parse(event.data);
    if (over.includes(job.state)) {
      events.close();
      location.reload();
      return;
    }
    if (job.total > 0) {
      const percent = Math.floor((100 * job.done) / job.total);
      bar.value = percent;
      element.querySelector("[data-percent]").textContent = `${percent} %`;
    }
    const words = element.querySelector(`[data-words="${job.stage || "none"}"]`);
    element.querySelector("[data-stage]").textContent = words ? ` · ${words.textContent}` : "";
  });
}
