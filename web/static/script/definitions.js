// @ts-check
// The definition editor. Users can drag rows to reorder them, and the options field is shown only
// for types that have options. Without scripts, there are buttons and a hint instead.
import { addHidden } from './page.js';

/** @param {ParentNode} root */
const enhance = (root) => {
  for (const body of root.querySelectorAll('[data-sort]')) {
    if (body.dataset.ready) continue;
    body.dataset.ready = '';
    Sortable.create(body, {
      handle: '.grip',
      animation: 120,
      onEnd: (event) => {
        if (event.oldIndex !== event.newIndex) submitOrder(body);
      },
    });
  }
  /** @type {HTMLSelectElement} */
  const type = root.querySelector('#type');
  const options = root.querySelector('[data-options]');
  if (!type || !options) return;
  const toggleOptions = () => {
    options.hidden = !('chooses' in type.selectedOptions[0].dataset);
  };
  type.addEventListener('change', toggleOptions);
  toggleOptions();
};

/** @param {HTMLElement} body */
const submitOrder = (body) => {
  const form = document.querySelector(`form[data-order="${body.dataset.sort}"]`);
  form.querySelectorAll('[name="order"]').forEach((input) => {
    input.remove();
  });
  for (const row of body.querySelectorAll('[data-key]')) addHidden(form, 'order', row.dataset.key);
  form.requestSubmit();
};

// Disables the buttons that would move the first row up or the last row down.
document.addEventListener(
  'click',
  (event) => {
    if (event.target.closest('button[aria-disabled="true"]')) event.preventDefault();
  },
  true,
);

enhance(document);
document.addEventListener('htmx:load', (event) => enhance(event.detail.elt));
