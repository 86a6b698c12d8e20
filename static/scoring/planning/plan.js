// The planner's sliders: each moves with its number, and any change replans. A typical value goes
// into its number. Whoever changes the budget or the width plans for it. A study is offered only
// where the plan recommends one.
(() => {
  "use strict";

  const form = document.querySelector("[data-plan]");
  if (!form) return;

  const numberOf = (name) => form.querySelector(`input[name="${name}"]`);

  for (const slider of form.querySelectorAll("[data-slides]")) {
    const number = numberOf(slider.dataset.slides);
    slider.addEventListener("input", () => (number.value = slider.value));
    number.addEventListener("input", () => (slider.value = number.value));
    slider.value = number.value;
  }
  for (const aim of ["budget", "width"]) {
    for (const kind of ["input", "change"]) {
      const planFor = () => (form.elements.aim.value = aim);
      numberOf(aim).addEventListener(kind, planFor);
      form.querySelector(`[data-slides="${aim}"]`).addEventListener(kind, planFor);
    }
  }
  for (const button of form.querySelectorAll("[data-sets]")) {
    button.addEventListener("click", (event) => {
      event.preventDefault();
      const number = numberOf(button.dataset.sets);
      number.value = button.value;
      number.dispatchEvent(new Event("input", { bubbles: true }));
      number.dispatchEvent(new Event("change", { bubbles: true }));
    });
  }
  document.addEventListener("htmx:afterSwap", () => {
    const draft = document.querySelector("[data-draft]");
    if (draft) draft.hidden = !document.querySelector(".plan-best");
  });
  form.dataset.ready = "";
})();
