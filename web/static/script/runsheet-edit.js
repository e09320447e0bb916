// @ts-check
// Edits the runsheet in place: cells, new rows, rows pasted from a spreadsheet, the sequence, and the
// trash. Without scripts, users can do the same with forms.
import { typing } from './page.js';
import * as sheet from './runsheet.js';
import { apply, discard, editor, isSaved, newRow, notes, shownText, unsaved } from './runsheet-cells.js';
import { canEdit, commit, entering, leave, open } from './runsheet-editing.js';
import { preview } from './runsheet-paste.js';
import { clearMessages, enqueue, enqueueRead, queued, send, show } from './runsheet-requests.js';
import { moveStep, perform, redo, remember, sequenceStep, trashStep, viewStep } from './runsheet-undo.js';

const { section, table, body, fields, columnCount } = sheet;

// ---- keys

/**
 * @param {Cell} cell
 * @param {number} by
 */
const next = (cell, by) => {
  do {
    const { parentElement: tr, cellIndex } = cell;
    cell = tr.cells[cellIndex + by];
    if (!cell || cell.cellIndex >= columnCount) {
      const other = sheet.step(tr, by);
      cell = other?.cells[by > 0 ? 0 : columnCount - 1];
    }
  } while (cell && !canEdit(cell));
  return cell;
};
/** @param {KeyboardEvent} event */
const editKey = (event) => {
  const { cell, input } = editor;
  if (event.key === 'Escape') {
    discard(cell);
  } else if (event.key === 'Enter' && event.altKey && input.tagName === 'TEXTAREA') {
    input.setRangeText('\n', input.selectionStart, input.selectionEnd, 'end');
  } else if (event.key === 'Enter' && !event.altKey) {
    commit();
    sheet.select(cell);
  } else if (event.key === 'Tab') {
    leave();
    sheet.select(next(cell, event.shiftKey ? -1 : 1) ?? cell);
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
};
/**
 * @param {KeyboardEvent} event
 * @param {Cell} cell
 */
const cellKey = (event, cell) => {
  const tr = cell.parentElement;
  const command = event.ctrlKey || event.metaKey;
  if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
    moveRow(tr, event.key === 'ArrowUp' ? -1 : 1);
  } else if (event.key === 'Insert' || (command && event.key === 'Enter')) {
    sheet.select(newRow().cells[1]);
  } else if (event.key === 'Delete' && (command || fields[cell.cellIndex] === 'number')) {
    trash(tr);
  } else if (command || event.altKey) {
    return;
  } else if (event.key === 'Enter' && fields[cell.cellIndex] === 'number') {
    tr.querySelector('.actions a')?.click();
  } else if ((event.key === 'Enter' || event.key === 'F2') && canEdit(cell)) {
    open(cell);
  } else if ((event.key === 'Delete' || event.key === 'Backspace') && canEdit(cell) && shownText(cell)) {
    open(cell, '');
    commit();
    sheet.announce('Cleared. Ctrl+Z restores it.');
    sheet.select(cell);
  } else if (event.key === 'Tab' && entering && next(cell, event.shiftKey ? -1 : 1)) {
    sheet.select(next(cell, event.shiftKey ? -1 : 1));
  } else if (event.key.length === 1 && event.key !== ' ' && canEdit(cell)) {
    open(cell, event.key);
  } else {
    return;
  }
  event.preventDefault();
};
table.addEventListener('keydown', (event) => {
  if (event.isComposing || event.defaultPrevented || !event.key) return;
  if (editor?.input === event.target) editKey(event);
  else if (event.target === sheet.active) cellKey(event, sheet.active);
});
// This listener precedes the one that leaves the runsheet.
table.addEventListener(
  'keydown',
  (event) => {
    if (event.key !== 'Escape' || editor || event.target !== sheet.active || !notes.has(sheet.active)) return;
    event.preventDefault();
    discard(sheet.active);
  },
  true,
);
table.addEventListener('dblclick', (event) => {
  const cell = event.target.closest('td');
  if (cell && !editor && canEdit(cell) && !event.target.closest('a, button')) open(cell);
});
document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.altKey || (!event.ctrlKey && !event.metaKey) || typing(event.target)) return;
  const key = event.key?.toLowerCase();
  if (key !== 'y' && !(key === 'z' && event.shiftKey)) return;
  event.preventDefault();
  redo();
});
document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.key?.toLowerCase() !== 'n')
    return;
  if (typing(event.target)) return;
  event.preventDefault();
  sheet.select(newRow().cells[1]);
});

// ---- changes by others

// While a cell is edited, rows get their new content but stay where they are.
let waits = false;
/** @param {string} query */
const follow = (query) =>
  enqueueRead(async () => {
    const response = await fetch(`${section.dataset.path}/instruments/state${query}`, {
      headers: { 'HX-Request': 'true' },
    });
    if (!response.ok || response.redirected) return;
    const state = await response.json();
    waits = Boolean(editor);
    apply(editor ? { rows: state.rows } : state);
  });
document.addEventListener('deedkeep:live', (event) => {
  /** @type {{records: string[]}[]} */
  const changes = event.detail;
  const changed = changes.map(({ records }) => records.find((record) => record.startsWith('instrument:')));
  const [first] = changed;
  follow(first && changed.every((other) => other === first) ? `?instrument=${first.split(':')[1]}` : '');
});
table.addEventListener('focusout', () =>
  setTimeout(() => {
    if (waits && !editor) follow('');
  }),
);

// ---- sequence

/** @param {Row} tr */
const afterMove = (tr) => {
  const list = sheet.rows();
  const position = list.indexOf(tr) + 1,
    old = Number(tr.querySelector('.number')?.textContent);
  sheet.renumber(list.map((row) => row.dataset.id));
  sheet.announce(`Moved to position ${position} of ${list.length}.`);
  enqueue(async () => {
    const state = await send(`/instruments/${tr.dataset.id}/move`, { position });
    if (state.problem) {
      show('problem', state.problem, 'Reload the page', () => location.reload());
      return;
    }
    remember(moveStep(Number(tr.dataset.id), old, state.undo), 'Row moved', state.undo);
    if (queued === 1) apply(state);
  });
};
/**
 * @param {Row} tr
 * @param {number} by
 */
const moveRow = (tr, by) => {
  if (!sheet.isPlain()) {
    show('warning', 'Rows can be moved only in the runsheet sequence. Select “Back to runsheet sequence” first.');
    return;
  }
  const other = sheet.step(tr, by);
  if (!other || !isSaved(other) || !isSaved(tr)) return;
  if (by < 0) other.before(tr);
  else other.after(tr);
  sheet.select(sheet.active);
  afterMove(tr);
};
Sortable.create(body, {
  handle: '.row-handle',
  draggable: 'tr[data-id]:not(.new-row)',
  animation: 0,
  onEnd: (event) => {
    if (event.oldIndex !== event.newIndex) afterMove(/** @type {Row} */ (event.item));
  },
});

document.getElementById('runsheet-sort')?.addEventListener('submit', (event) => {
  event.preventDefault();
  perform(sequenceStep(''), 'Runsheet sorted by recording date');
});
section.addEventListener('runsheet:viewed', (event) => {
  if (!unsaved.size) clearMessages(); // the Undo of a notice is for the last change
  remember(viewStep(event.detail), 'View of the runsheet changed');
});

// ---- trash

/** @param {Row} tr */
const trash = (tr) => {
  if (isSaved(tr)) perform(trashStep(Number(tr.dataset.id)), 'Row moved to the trash');
};
table.addEventListener('click', (event) => {
  const button = event.target.closest('button[formaction$="/trash"]');
  if (!button) return;
  event.preventDefault();
  trash(button.closest('tr'));
});

// ---- clipboard

document.addEventListener('paste', (event) => {
  const cell = sheet.active;
  if (!cell || document.activeElement !== cell) return;
  const text = event.clipboardData.getData('text/plain');
  if (!text.trim()) return;
  event.preventDefault();
  if (/[\t\n]/.test(text.trim())) preview(text, fields[cell.cellIndex]);
  else open(cell, text.trim());
});
document.addEventListener('copy', (event) => {
  const cell = sheet.active;
  if (!cell || document.activeElement !== cell || String(window.getSelection())) return;
  event.preventDefault();
  // biome-ignore lint/performance/useDomNodeTextContent: the text has the line breaks that the cell shows
  event.clipboardData.setData('text/plain', cell.innerText.trim());
});

// Asks before entries that aren't saved are lost.
window.addEventListener('beforeunload', (event) => {
  if (queued || unsaved.size || (editor && editor.input.value.trim() !== editor.was)) event.preventDefault();
});
