// @ts-check
// Keys of the page on which documents are moved to abstracts: a digit selects an abstract, and Enter moves the document.
import { typing } from './page.js';

/** @type {HTMLInputElement} */
const finder = document.querySelector('#to-q');
const form = () => /** @type {HTMLFormElement} */ (document.getElementById('to-abstract'));
/** @param {string} key */
const choice = (key) => /** @type {HTMLInputElement} */ (form()?.querySelector(`input[data-key="${CSS.escape(key)}"]`));

/** @param {HTMLInputElement} radio */
const select = (radio) => {
  if (!radio) return false;
  radio.checked = true;
  radio.focus();
  return true;
};
/** @param {string} selector */
const press = (selector) => {
  /** @type {HTMLElement} */
  const control = document.querySelector(selector);
  control?.click();
  return !!control;
};
let sent = false; // Enter may be pressed again before the next document is shown
addEventListener('pageshow', () => {
  sent = false;
});
document.addEventListener('submit', (event) => {
  if (event.target !== form()) return;
  if (sent) event.preventDefault();
  sent = true;
});

/** @type {Record<string, () => boolean>} */
const keys = {
  s: () => press('[data-skip]'),
  z: () => press('.notice form button'),
  f: () => {
    finder?.focus();
    finder?.select();
    return !!finder;
  },
  Enter: () => {
    if (!form()?.querySelector('input[name="to"]:checked')) return false;
    form().requestSubmit();
    return true;
  },
};

// In the search box, Enter and the down arrow select the first abstract that was found.
finder?.addEventListener('keydown', (event) => {
  if (event.isComposing || !['Enter', 'ArrowDown'].includes(event.key)) return;
  const found = form().querySelector('input[name="q"]');
  const isFound = found instanceof HTMLInputElement && found.value === finder.value.trim();
  if (isFound && select(choice('1'))) event.preventDefault();
});

document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const isRadio = event.target instanceof HTMLInputElement && event.target.type === 'radio';
  if (document.querySelector('dialog:modal') || (typing(event.target) && !isRadio)) return;
  if (event.key === 'Enter' && (isRadio || event.target.closest('a, button, summary'))) return; // the browser does it
  const done = /^[1-9]$/.test(event.key)
    ? select(choice(event.key))
    : keys[event.key.length > 1 ? event.key : event.key.toLowerCase()]?.();
  if (done) event.preventDefault();
});
