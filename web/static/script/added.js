// @ts-check
// Rows that were pasted or imported. The runsheet can undo the last ones of this tab, also after other pages were
// opened.
/** @type {HTMLElement} */
const palette = document.querySelector('#palette');
/** @param {string} path */
const keyOf = (path) => `added:${palette?.dataset.user}:${path}`;

// storeAdded stores what the Undo button of an abstract's notice submits, or removes it.
/**
 * @param {string} path
 * @param {string} fields
 */
export const storeAdded = (path, fields) => {
  try {
    if (fields) sessionStorage.setItem(keyOf(path), fields);
    else sessionStorage.removeItem(keyOf(path));
  } catch {
    /* not allowed */
  }
};
/** @param {string} path */
export const storedAdded = (path) => {
  try {
    return sessionStorage.getItem(keyOf(path));
  } catch {
    return null; // not allowed
  }
};

const action = '/instruments/undo';
/** @type {HTMLFormElement} */
const form = document.querySelector(`.notice form[action$="${action}"]`);
if (form) {
  const path = form.getAttribute('action').slice(0, -action.length);
  const fields = [...form.querySelectorAll('input')].map((input) => [input.name, input.value]);
  storeAdded(path, new URLSearchParams(fields).toString());
  form.addEventListener('submit', () => storeAdded(path, ''));
}
