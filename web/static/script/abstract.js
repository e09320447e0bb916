// @ts-check
// Reorders and renames the documents of an abstract. Without scripts, users can do the same with
// forms and links. record.js handles the fields.

/** @param {string} text */
const announce = (text) => {
  const line = document.getElementById('documents-said');
  if (line) line.textContent = text;
};

// Sends the documents in the order in which the page shows them.
const listElement = () => document.getElementById('document-list');
const rows = () => [...listElement().querySelectorAll(':scope > [data-file]')];
/** @param {HTMLElement} row */
const nameOf = (row) => row.querySelector('.document-name')?.textContent.trim() || 'The document';
const sendOrder = () => {
  htmx.ajax('post', listElement().dataset.order, {
    target: '#documents-state',
    swap: 'outerHTML',
    values: {
      files: rows()
        .map((row) => row.dataset.file)
        .join(','),
    },
  });
};
/** @param {HTMLElement} row */
const announcePosition = (row) =>
  announce(`${nameOf(row)} moved to position ${rows().indexOf(row) + 1} of ${rows().length}.`);

document.addEventListener('click', (event) => {
  /** @type {HTMLButtonElement} */
  const button = event.target.closest('#document-list button[name="up"], #document-list button[name="down"]');
  if (!button) return;
  const row = button.closest('[data-file]');
  const up = button.name === 'up';
  const sibling = up ? row.previousElementSibling : row.nextElementSibling;
  if (!sibling) return; // on another page, or at the end of the list: submit the form
  event.preventDefault();
  if (up) sibling.before(row);
  else sibling.after(row);
  button.focus();
  announcePosition(row);
  sendOrder();
});

const enableDragging = () => {
  const ol = listElement();
  if (!ol?.querySelector('.handle') || Sortable.get(ol)) return;
  Sortable.create(ol, {
    handle: '.handle',
    draggable: '[data-file]',
    animation: 120,
    onEnd: (event) => {
      if (event.oldIndex === event.newIndex) return;
      announcePosition(event.item);
      sendOrder();
    },
  });
};

// Keeps rows that did not change when the list is replaced, so that no image is reloaded and no
// form closes.
document.addEventListener('htmx:oobBeforeSwap', (event) => {
  const { target, fragment } = event.detail;
  if (target.id !== 'document-list') return;
  for (const row of fragment.querySelectorAll('[data-file]')) {
    const current = document.getElementById(row.id);
    if (current && current.dataset.is === row.dataset.is) row.replaceWith(current);
  }
});

const ready = () => {
  enableDragging();
  /** @type {HTMLInputElement} */
  const name = document.querySelector('[data-stem]:not([data-ready])');
  if (name) {
    name.dataset.ready = '';
    name.focus();
    const end = name.value.lastIndexOf('.');
    name.setSelectionRange(0, end > 0 ? end : name.value.length);
  }
};
document.addEventListener('htmx:afterSettle', ready);
ready();
