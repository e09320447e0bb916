// @ts-check
// Keys of every page: ? shows all shortcuts, and J, K, X, and Enter work in a list of records.
import { typing } from './page.js';

/** @type {[title: string, keys: [keys: string, what: string][]][]} */
const groups = [
  [
    'Every page',
    [
      ['Ctrl K or /', 'Search, or do something on the page'],
      ['Ctrl Z', 'Undo your last change'],
      ['?', 'This list'],
      ['Esc', 'Close or cancel'],
    ],
  ],
  [
    'Lists',
    [
      ['J K', 'Next, previous row'],
      ['Enter', 'Open the row'],
      ['X', 'Select the row'],
    ],
  ],
  ['Abstract', [['R D', 'Runsheet, documents']]],
  [
    'Runsheet',
    [
      ['← ↑ → ↓', 'Select a cell'],
      ['Enter', 'Edit the cell, as typing does'],
      ['Tab', 'Save it and go to the next'],
      ['Ctrl Z', 'Undo; Ctrl Y redoes it'],
      ['N', 'New row'],
      ['Alt ↑ ↓', 'Move the row'],
      ['Ctrl Delete', 'Move the row to the trash'],
      ['Ctrl V', 'Paste rows from Excel'],
    ],
  ],
  [
    'Document',
    [
      ['[ ]', 'Previous, next document'],
      ['← →', 'Previous, next page'],
      ['I', 'Instruments'],
      ['Esc', 'Back to the abstract or folder'],
    ],
  ],
  [
    'Instruments in a document',
    [
      ['Enter or F4', 'Mark as checked, next doubtful field; Shift goes back'],
      ['← →', 'Next, previous page'],
      ['S', 'Start an instrument at the page'],
      ['M', 'Merge with the previous instrument'],
    ],
  ],
  [
    'Side by side',
    [
      ['F6', 'The other side'],
      ['Shift F6', 'The divider'],
      ['← →', 'Move the divider'],
      ['Enter', 'Make both sides equal'],
    ],
  ],
  [
    'Move to abstracts',
    [
      ['1 … 9', 'Select an abstract'],
      ['Enter', 'Move the document there'],
      ['S', 'Skip the document'],
      ['Z', 'Undo the last move'],
      ['F', 'Find another abstract'],
    ],
  ],
];
/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} name
 * @param {...(string | Node)} content
 */
const element = (name, ...content) => {
  const el = document.createElement(name);
  el.append(...content);
  return el;
};
/** @type {HTMLDialogElement} */
let dialog = null; // made when it is opened for the first time
const open = () => {
  if (!dialog) {
    dialog = element('dialog');
    dialog.className = 'shortcuts';
    const heading = element('h2', 'Keyboard shortcuts');
    heading.id = 'shortcuts-heading';
    dialog.setAttribute('aria-labelledby', heading.id);
    dialog.setAttribute('closedby', 'any');
    const closeButton = element('button', 'Close');
    closeButton.type = 'button';
    closeButton.addEventListener('click', () => dialog.close());
    const list = element('div');
    list.className = 'shortcut-groups';
    for (const [title, shortcuts] of groups) {
      const names = element('dl');
      for (const [combination, what] of shortcuts) {
        const term = element('dt');
        for (const key of combination.split(' ')) term.append(key === 'or' ? 'or' : element('kbd', key), ' ');
        names.append(element('div', term, element('dd', what)));
      }
      list.append(element('section', element('h3', title), names));
    }
    dialog.append(element('header', heading, closeButton), list);
    dialog.addEventListener('click', (event) => {
      if (event.target === dialog) dialog.close();
    });
    document.body.append(dialog);
  }
  dialog.showModal();
};
const rows = () => [...document.querySelectorAll('#results tbody tr')];
/** @param {Element} row */
const link = (row) => row.querySelector('a.name');

// step focuses the link of the next or the previous row.
/** @param {number} by */
const step = (by) => {
  const list = rows();
  const at = list.findIndex((row) => row.contains(document.activeElement));
  const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : at + by];
  if (!next) return;
  link(next)?.focus();
  next.scrollIntoView({ block: 'nearest' });
};
const choose = () => {
  const row = rows().find((one) => one.contains(document.activeElement));
  row?.querySelector('input[type=checkbox]')?.click();
};

/** @type {Record<string, () => void>} */
const keys = { j: () => step(1), k: () => step(-1), x: choose };
document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing(event.target) && !event.target.matches('#results input[type=checkbox]')) return;
  // The viewer has a list of its own.
  if (event.key === '?' && !document.querySelector('[data-do="keys"]') && !document.querySelector('dialog:modal')) {
    event.preventDefault();
    open();
    return;
  }
  const act = rows().length && !document.querySelector('dialog[open]') && keys[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  act();
});
document.addEventListener('click', (event) => {
  if (!event.target.closest('[data-shortcuts="open"]')) return;
  event.preventDefault();
  open();
});
