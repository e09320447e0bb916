// @ts-check
// Shows how many rows of a list are selected, and keeps the form that changes them in view.

const update = () => {
  /** @type {HTMLFormElement} */
  const form = document.querySelector('form#bulk');
  if (!form) return;
  const count = document.querySelectorAll('input[name=id][form=bulk]:checked').length;
  /** @type {HTMLSelectElement} */
  const matching = form.querySelector('[name=matching]');
  form.querySelector('[data-chosen]').textContent = count ? `${count} selected` : '';
  form.toggleAttribute('data-selected', count > 0);
  /** @type {NodeListOf<HTMLButtonElement>} */
  const buttons = form.querySelectorAll('button[name=do]');
  for (const button of buttons) button.disabled = !count && !matching?.value;
};

document.addEventListener('deedkeep:chosen', update); // dispatched by choose.js
document.addEventListener('change', (event) => {
  if (event.target instanceof HTMLSelectElement && event.target.name === 'matching') update();
});
document.addEventListener('htmx:afterSettle', update);
update();
