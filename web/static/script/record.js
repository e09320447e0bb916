// @ts-check
// Lets users edit the fields of a record (abstract or order) in place. Without scripts, users can do
// the same with forms and links.

// A click on a value opens the form of its group. Selecting text or a double click does not.
let openTimer = 0;
document.addEventListener('click', (event) => {
  clearTimeout(openTimer);
  const value = event.target.closest('.group dd[data-field]');
  const editLink = value?.closest('.group').querySelector('[id^="edit-"]');
  if (!editLink || event.detail !== 1 || event.target.closest('a, button')) return;
  openTimer = setTimeout(() => {
    if (String(window.getSelection())) return;
    const url = `${editLink.getAttribute('hx-get')}&field=${encodeURIComponent(value.dataset.field)}`;
    htmx.ajax('get', url, { target: editLink.getAttribute('hx-target'), swap: 'outerHTML' });
  }, 250);
});

// Escape closes the check boxes of a row, or cancels a form.
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || event.defaultPrevented) return;
  const choose = event.target.closest('details.choose[open]');
  if (choose) {
    event.preventDefault();
    choose.removeAttribute('open');
    choose.querySelector('summary').focus();
    return;
  }
  const form = event.target.closest('[data-editing]');
  const cancel = form?.querySelector('[data-cancel]');
  if (!cancel) return;
  event.preventDefault();
  if ('touched' in form.dataset && !window.confirm('Discard your changes?')) return;
  delete form.dataset.touched;
  cancel.click();
});

// A row says which of its folded check boxes are checked.
document.addEventListener('input', (event) => {
  const choose = event.target.closest('details.choose');
  const chosen = choose?.querySelector('[data-chosen]');
  if (!chosen) return;
  const names = [...choose.querySelectorAll('input:checked')].map((box) => box.getAttribute('value'));
  const others = choose.querySelector('input[name="indexes"]').value.split(/[,;]/);
  const all = [...names, ...others.map((name) => name.trim())].filter(Boolean);
  chosen.textContent = all.join(', ') || 'None';
});

// Selects the first placeholder that a phrase left to be filled in.
const selectBlank = () => {
  /** @type {HTMLTextAreaElement} */
  const text = document.querySelector('textarea[data-blanks]');
  if (!text) return;
  delete text.dataset.blanks;
  const blank = text.value.match(/\{[^{}\n]{1,60}\}/);
  text.focus();
  if (blank) text.setSelectionRange(blank.index, blank.index + blank[0].length);
};
document.addEventListener('htmx:afterSettle', selectBlank);
selectBlank();

// A phrase is typed in the field that opens.
document.addEventListener(
  'toggle',
  (event) => {
    const choose = /** @type {HTMLElement} */ (event.target);
    if (choose.matches('details.choose[open]')) choose.querySelector('input[name="phrase"]')?.focus();
  },
  true,
);

// Asks before unsaved changes are lost. A form that htmx sends keeps its changes until the response replaces
// it. A form that comes back with problems or a conflict isn't saved.
document.addEventListener('input', (event) => {
  const form = event.target.closest('[data-editing]');
  if (form) form.dataset.touched = '';
});
document.addEventListener('submit', (event) => {
  if (!event.defaultPrevented) delete event.target.dataset.touched;
});
document.addEventListener('click', (event) => {
  const form = event.target.closest('[data-cancel]')?.closest('[data-editing]');
  if (form) delete form.dataset.touched;
});
const markRejected = () => {
  for (const form of document.querySelectorAll('[data-editing]')) {
    if (form.querySelector('.pick, .problem, [aria-invalid="true"]')) form.dataset.touched = '';
  }
};
window.addEventListener('beforeunload', (event) => {
  if (document.querySelector('[data-editing][data-touched]')) event.preventDefault();
});

// On a conflict with another user's change, the response is the form with both values.
document.addEventListener('htmx:beforeSwap', (event) => {
  if (event.detail.xhr.status === 412 && event.detail.target.matches('.group')) {
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  }
});

const markEditable = () => {
  for (const group of document.querySelectorAll('.group'))
    group.classList.toggle('opens', Boolean(group.querySelector('[id^="edit-"]')));
};
document.addEventListener('htmx:afterSettle', markEditable);
document.addEventListener('htmx:afterSwap', markRejected);
markEditable();
markRejected();
