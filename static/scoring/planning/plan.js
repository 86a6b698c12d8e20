// The planner's sliders: each moves with its number, and any change replans.
(() => {
  "use strict";

  const form = document.querySelector("[data-plan]");
  if (!form) return;

  const numberOf = (slider) => form.elements[slider.dataset.slides];

  for (const slider of form.querySelectorAll("[data-slides]")) {
    const number = numberOf(slider);
    slider.addEventListener("input", () => (number.value = slider.value));
    number.addEventListener("input", () => (slider.value = number.value));
    slider.value = number.value;
  }
  form.dataset.ready = "";
})();
