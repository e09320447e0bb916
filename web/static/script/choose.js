// @ts-check
// A [data-all] checkbox selects or clears all checkboxes in its form. Shift-click also sets all
// checkboxes between this click and the previous one.
// The form dispatches the event deedkeep:chosen after each change.

/**
 * @param {Element} el
 * @returns {el is HTMLInputElement}
 */
const isBox = (el) => el instanceof HTMLInputElement && el.type === 'checkbox';
/** @param {HTMLFormElement} form */
const boxesIn = (form) => [...form.elements].filter(isBox);
/** @param {HTMLFormElement} form */
const selectAllBox = (form) => boxesIn(form).find((box) => box.matches('[data-all]'));
/** @param {HTMLFormElement} form */
const boxesOf = (form) => boxesIn(form).filter((box) => !box.matches('[data-all]'));

/** @param {HTMLFormElement} form */
const updateSelectAll = (form) => {
  const allBox = selectAllBox(form);
  if (!allBox) return;
  const boxes = boxesOf(form);
  const checkedCount = boxes.filter((box) => box.checked).length;
  allBox.checked = checkedCount > 0 && checkedCount === boxes.length;
  allBox.indeterminate = checkedCount > 0 && checkedCount < boxes.length;
  form.dispatchEvent(new CustomEvent('deedkeep:chosen', { bubbles: true }));
};
const updateAllForms = () => {
  for (const form of document.forms) updateSelectAll(form);
};

document.addEventListener('change', (event) => {
  const box = event.target;
  if (box.type !== 'checkbox' || !box.form) return;
  if (box.matches('[data-all]')) {
    for (const other of boxesOf(box.form)) other.checked = box.checked;
  }
  updateSelectAll(box.form);
});

/** @type {HTMLInputElement} */
let lastClicked = null; // the box that was clicked last
document.addEventListener('click', (event) => {
  const box = event.target;
  if (!(box instanceof HTMLInputElement) || box.type !== 'checkbox' || !box.form || box.matches('[data-all]')) return;
  const boxes = boxesOf(box.form);
  if (event.shiftKey && lastClicked && boxes.includes(lastClicked)) {
    const [from, to] = [boxes.indexOf(lastClicked), boxes.indexOf(box)].sort((a, b) => a - b);
    for (const other of boxes.slice(from, to + 1)) other.checked = box.checked;
    updateSelectAll(box.form);
  }
  lastClicked = box;
});

document.addEventListener('htmx:afterSettle', updateAllForms);
updateAllForms();
