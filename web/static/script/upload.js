// @ts-check
// Uploads dropped, selected, or pasted documents, and shows the progress of each. Without scripts, the
// section's form sends the documents.
import { typing } from './page.js';
import {
  addRow,
  announce,
  button,
  count,
  createElement,
  form,
  input,
  items,
  keepsFolders,
  resetCounts,
  setState,
  tools,
} from './upload-list.js';
import { cancel, retryUpload, startWaiting } from './upload-sending.js';

const folderOf = new WeakMap(); // by file: the path of the folders it came from, separated by slashes
const ignoredNames = /^(\.|~\$|thumbs\.db$|desktop\.ini$)/i;

const folder = createElement('input');
folder.type = 'file';
folder.multiple = true;
folder.hidden = true;
folder.webkitdirectory = true;
const chooseFolder = button('Choose folder', 'Choose a folder of documents', () => folder.click());
chooseFolder.className = '';
chooseFolder.removeAttribute('aria-label');
if ('webkitdirectory' in folder) tools.append(chooseFolder);
form.append(folder);
let batchCount = 0;
/** @param {Iterable<File>} files */
const addFiles = (files) => {
  const found = [...files];
  if (!found.length) return;
  if (!items.length) resetCounts();
  const batch = `${Date.now().toString(36)}-${batchCount++}`;
  found.forEach((file, turn) => {
    /** @type {Upload} */
    const item = { file, batch, turn, state: 'waiting', path: (keepsFolders && folderOf.get(file)) || '' };
    items.push(item);
    addRow(item, cancel, retryUpload);
    setState(item, 'waiting');
  });
  announce(`${count(found.length, 'document is', 'documents are')} uploading.`);
  startWaiting();
};
/** @param {File[]} files */
const inOrder = (files) =>
  files.sort((a, b) =>
    (a.webkitRelativePath || a.name).localeCompare(b.webkitRelativePath || b.name, 'en', { numeric: true }),
  );

input.addEventListener('change', () => {
  addFiles(inOrder([...input.files]));
  input.value = '';
});
folder.addEventListener('change', () => {
  const files = inOrder(
    [...folder.files].filter(
      (file) =>
        !file.webkitRelativePath
          .split('/')
          .slice(1)
          .some((name) => ignoredNames.test(name)),
    ),
  );
  for (const file of files) folderOf.set(file, file.webkitRelativePath.split('/').slice(0, -1).join('/'));
  addFiles(files);
  folder.value = '';
  chooseFolder.focus();
});

document.addEventListener('paste', (event) => {
  const files = [...(event.clipboardData ? event.clipboardData.files : [])];
  // Excel copies cells as text and as an image.
  const isText = typing(event.target) || event.target.closest('.runsheet');
  if (!files.length || (isText && event.clipboardData.getData('text'))) return;
  event.preventDefault();
  const now = new Date();
  /** @param {number} n */
  const pad = (n) => String(n).padStart(2, '0');
  const stamp =
    now.getFullYear() +
    '-' +
    pad(now.getMonth() + 1) +
    '-' +
    pad(now.getDate()) +
    ' ' +
    pad(now.getHours()) +
    '.' +
    pad(now.getMinutes()) +
    '.' +
    pad(now.getSeconds());
  addFiles(
    files.map((file) =>
      file.name === 'image.png' ? new File([file], `Pasted ${stamp}.png`, { type: file.type }) : file,
    ),
  );
});

/** @param {DragEvent} event */
const hasFiles = (event) => event.dataTransfer && [...event.dataTransfer.types].includes('Files');
const overlay = createElement('div', 'drop-over', 'Drop files or folders to upload them here');
overlay.setAttribute('aria-hidden', 'true');
let dragDepth = 0;
/** @param {boolean} on */
const showOverlay = (on) => {
  if (on) document.body.append(overlay);
  else overlay.remove();
};
window.addEventListener('dragenter', (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  dragDepth++;
  showOverlay(true);
});
window.addEventListener('dragover', (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = 'copy';
});
window.addEventListener('dragleave', (event) => {
  if (!hasFiles(event)) return;
  dragDepth = Math.max(0, dragDepth - 1);
  if (!dragDepth) showOverlay(false);
});
window.addEventListener('drop', async (event) => {
  dragDepth = 0;
  showOverlay(false);
  if (!hasFiles(event)) return;
  event.preventDefault();
  // dataTransfer is empty after the first await, so its entries are collected before.
  const entries = [...event.dataTransfer.items]
    .filter((transferred) => transferred.kind === 'file')
    .map((transferred) => transferred.webkitGetAsEntry?.() || transferred.getAsFile());
  /** @type {Dropped} */
  const found = [];
  for (const entry of entries) await collectFiles(entry, found, '');
  found.sort((a, b) => a.path.localeCompare(b.path, 'en', { numeric: true }));
  addFiles(found.map((dropped) => dropped.file));
  const unread = found.unread || 0;
  if (unread) announce(`${count(unread, 'file', 'files')} could not be read.`);
});

// collectFiles reads a dropped file, or a folder with all its subfolders.
/**
 * @param {any} entry
 * @param {Dropped} found
 * @param {string} path
 */
const collectFiles = async (entry, found, path) => {
  if (!entry) return;
  if (entry instanceof File) {
    found.push({ file: entry, path: entry.name });
    return;
  }
  try {
    if (entry.isFile) {
      if (path && ignoredNames.test(entry.name)) return;
      const file = await new Promise((done, fail) => entry.file(done, fail));
      folderOf.set(file, path.slice(0, -1));
      found.push({ file, path: path + file.name });
      return;
    }
    if (path && ignoredNames.test(entry.name)) return;
    const reader = entry.createReader();
    for (;;) {
      // it returns up to 100 entries per call
      const next = await new Promise((done, fail) => reader.readEntries(done, fail));
      if (!next.length) return;
      for (const child of next) await collectFiles(child, found, `${path + entry.name}/`);
    }
  } catch {
    found.unread = (found.unread || 0) + 1;
  }
};
