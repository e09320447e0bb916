// @ts-check
// The list of uploads of a page: their progress, and why one was rejected.

export const section = document.querySelector('[data-upload]');

export const destination = section.dataset.to || 'none';
export const keepsFolders = !destination.startsWith('abstract:');

// ---- elements of the page

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {string} [className]
 * @param {string} [text]
 */
export const createElement = (tag, className, text) => {
  const el = document.createElement(tag);
  if (className) el.className = className;
  if (text) el.textContent = text;
  return el;
};
/** @param {string} text */
export const createNote = (text) => {
  const el = createElement('p', 'muted', text);
  el.style.gridColumn = '1 / -1';
  el.style.whiteSpace = 'normal';
  return el;
};
/**
 * @param {string} text
 * @param {string} label
 * @param {() => void} act
 */
export const button = (text, label, act) => {
  const el = createElement('button', 'quiet', text);
  el.type = 'button';
  el.setAttribute('aria-label', label);
  el.addEventListener('click', act);
  return el;
};

export const form = section.querySelector('form');
export const input = form.querySelector('input[type=file]');
const hint = form.querySelector('.hint') || form.appendChild(createElement('p', 'hint'));
const plainButton = form.querySelector('[data-plain], button:not([type=button])');
export const tools = plainButton.parentElement;
const summary = createElement('p', 'muted');
export const list = createElement('ul', 'uploads');
const liveRegion = createElement('p', 'visually-hidden');
export const alertLine = createElement('p', 'problem');
liveRegion.setAttribute('role', 'status');
alertLine.setAttribute('role', 'alert');
alertLine.hidden = true;
summary.hidden = true;
list.setAttribute('aria-label', 'Uploads in progress');
plainButton.remove();
input.required = false;
// Phones don't drop or paste files.
hint.prepend(
  createElement(
    'span',
    'drops',
    'Or drop files and folders anywhere on this page, or paste files. ' +
      (keepsFolders ? '' : "Subfolders aren't kept. An abstract has a single list of documents. "),
  ),
);

section.append(alertLine, summary, list, liveRegion);
form.addEventListener('submit', (event) => event.preventDefault());

/** @param {string} text */
export const announce = (text) => {
  liveRegion.textContent = text;
};

/**
 * @param {number} n
 * @param {string} singular
 * @param {string} plural
 */
export const count = (n, singular, plural) => `${n} ${n === 1 ? singular : plural}`;
/** @param {number} n */
export const formatBytes = (n) => {
  if (n < 1000) return count(n, 'byte', 'bytes');
  let unit = '';
  for (unit of ['KB', 'MB', 'GB']) {
    n /= 1000;
    if (n < 999.5) break;
  }
  return `${n < 9.95 ? n.toFixed(1) : Math.round(n)} ${unit}`;
};
/** @param {number} seconds */
export const formatDuration = (seconds) => {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
};

// ---- one document

// waiting → sending ⇄ lost → filing → filed
// refused
// failed; cancelled from any state
/** @type {Upload[]} */
export const items = [];
/** @param {Upload} item */
export const isActive = (item) => ['waiting', 'sending', 'lost', 'filing', 'signedout'].includes(item.state);

/**
 * @param {Upload} item
 * @param {string} text
 */
export const showRate = (item, text) => {
  item.rate.textContent = text || '';
};
/**
 * @param {Upload} item
 * @param {string} text
 */
export const showProblem = (item, text) => {
  item.problem.textContent = text || '';
  item.problem.hidden = !text;
};

// addRow shows an upload. Its buttons call cancel and retry.
/**
 * @param {Upload} item
 * @param {(item: Upload) => void} cancel
 * @param {(item: Upload) => void} retry
 */
export const addRow = (item, cancel, retry) => {
  item.li = createElement('li', 'upload');
  const title = (item.path ? `${item.path}/` : '') + item.file.name;
  item.label = createElement('span', 'name', title);
  item.label.title = title;
  item.rate = createElement('output', 'rate');
  item.rate.setAttribute('aria-live', 'off'); // it changes constantly; the outcome is announced
  item.buttons = createElement('span', 'row');
  item.bar = createElement('progress');
  item.bar.max = Math.max(1, item.file.size);
  item.bar.value = 0;
  item.bar.setAttribute('aria-label', `Progress of ${item.file.name}`);
  item.note = createNote('');
  item.note.hidden = true;
  item.problem = createElement('p', 'problem');
  item.problem.hidden = true;
  item.cancel = button('Cancel', `Cancel ${item.file.name}`, () => cancel(item));
  item.retry = button('Retry', `Retry ${item.file.name}`, () => retry(item));
  item.buttons.append(item.cancel);
  item.li.append(item.label, item.rate, item.buttons, item.bar, item.note, item.problem);
  list.append(item.li);
  showRate(item, 'Waiting');
};

/**
 * @param {Upload} item
 * @param {UploadState} state
 */
export const setState = (item, state) => {
  item.state = state;
  item.li.dataset.state = state;
  const finished = !isActive(item);
  item.bar.hidden = finished;
  item.cancel.textContent = finished ? 'Dismiss' : 'Cancel';
  item.cancel.setAttribute('aria-label', (finished ? 'Dismiss ' : 'Cancel ') + item.file.name);
  if (state === 'failed' || state === 'lost') item.buttons.prepend(item.retry);
  else item.retry.remove();
  updateSummary();
};

/** @param {Upload} item */
export const removeRow = (item) => {
  const next = item.li.nextElementSibling || item.li.previousElementSibling;
  const focused = item.li.contains(document.activeElement);
  item.li.remove();
  items.splice(items.indexOf(item), 1);
  if (!items.length && !counts.folders.size) resetCounts();
  if (focused) (next ? next.querySelector('button') : input)?.focus();
  updateSummary();
};

export const counts = { filed: 0, refused: 0, folders: new Set() };
let announced = 0;
export const resetCounts = () => {
  counts.filed = counts.refused = announced = 0;
  counts.folders.clear();
};
const uploadedText = () =>
  `${counts.filed} uploaded${counts.folders.size ? ` to ${count(counts.folders.size, 'folder', 'folders')}` : ''}`;
const updateSummary = () => {
  const remaining = items.filter(isActive).length;
  const parts = [];
  if (remaining) parts.push(`${remaining} uploading`);
  if (counts.filed) parts.push(uploadedText());
  if (counts.refused) parts.push(`${counts.refused} not uploaded`);
  summary.textContent = parts.join(', ') + (parts.length ? '.' : '');
  summary.hidden = !parts.length;
};
export const announceEnd = () => {
  const remaining = items.filter(isActive).length;
  if (remaining || announced === counts.filed + counts.refused) return;
  announced = counts.filed + counts.refused;
  announce(`Uploads finished: ${uploadedText()}${counts.refused ? `, ${counts.refused} not uploaded.` : '.'}`);
};
