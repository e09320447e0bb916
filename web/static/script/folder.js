// @ts-check
// Lets users drag documents and folders onto a folder.
// Without scripts, users can do the same with forms.
import { addHidden } from './page.js';
import { boxes } from './selected-documents.js';

// A refresh of the list must not discard a selection or a name that is being typed.
document.addEventListener('htmx:beforeRequest', (event) => {
  const section = event.target;
  if (section.id !== 'documents') return;
  const undoing = document.activeElement?.closest('.document [formaction$="/restore"]');
  if (boxes().some((box) => box.checked) || section.querySelector('form.document-name') || undoing || dragging)
    event.preventDefault();
});
document.addEventListener('htmx:afterSettle', () => prepare());

// ---- drag and drop

const filesType = 'application/x-deedkeep-files';
const folderType = 'application/x-deedkeep-folder';
/** @type {{ files?: string[], folder?: string }} */
let dragging = null;

const prepare = () => {
  if (!document.getElementById('document-actions') && !document.querySelector('[data-upload]')) return; // the user may not move anything
  for (const li of document.querySelectorAll('[data-files] > li[data-file]')) li.draggable = true;
  for (const link of document.querySelectorAll('.tree a[data-folder], .documents > li[data-folder]')) {
    if (link.dataset.folder !== '0') link.draggable = true;
  }
  for (const link of document.querySelectorAll('[data-files] a, [data-files] img, .documents > li[data-folder] a'))
    link.draggable = false;
};

document.addEventListener('dragstart', (event) => {
  const row = event.target instanceof Element && event.target.closest('[data-file], [data-folder]');
  if (!row?.draggable) return;
  if (row.dataset.file) {
    const box = row.querySelector('input[name=file]');
    // Dragging a selected document drags the complete selection.
    const ids = box?.checked
      ? boxes()
          .filter((checkbox) => checkbox.checked)
          .map((checkbox) => checkbox.value)
      : [row.dataset.file];
    dragging = { files: ids };
    event.dataTransfer.setData(filesType, ids.join(','));
  } else {
    dragging = { folder: row.dataset.folder };
    event.dataTransfer.setData(folderType, row.dataset.folder);
  }
  event.dataTransfer.effectAllowed = 'move';
});
document.addEventListener('dragend', () => {
  dragging = null;
  highlight(null);
});

const currentFolder = () => {
  const current = document.querySelector('.tree a[aria-current]');
  return current ? current.dataset.folder : '';
};
/** @param {DragEvent} event */
const target = (event) => {
  if (!dragging || !(event.target instanceof Element)) return null;
  const folderElement = event.target.closest('[data-folder]');
  if (!folderElement) return null;
  if (
    dragging.folder
      ? folderElement.dataset.folder === dragging.folder
      : folderElement.dataset.folder === currentFolder()
  )
    return null;
  return folderElement;
};
/** @param {HTMLElement} folderElement */
const highlight = (folderElement) => {
  for (const el of document.querySelectorAll('.over')) el.classList.remove('over');
  const row = folderElement && (folderElement.closest('li') || folderElement);
  if (row) row.classList.add('over');
};
document.addEventListener('dragover', (event) => {
  const folderElement = target(event);
  if (!dragging) return;
  highlight(folderElement);
  if (folderElement) {
    event.preventDefault();
    event.dataTransfer.dropEffect = 'move';
  }
});
/**
 * @param {string} action
 * @param {string[][]} values
 */
const send = (action, values) => {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = action;
  for (const [name, value] of values) addHidden(form, name, value);
  document.body.append(form);
  form.requestSubmit();
};
document.addEventListener('drop', (event) => {
  const folderElement = target(event);
  if (!folderElement) return;
  event.preventDefault();
  const back = document.querySelector('#document-actions input[name=back]');
  const returnTo = ['back', back ? back.value : location.pathname];
  if (dragging.files)
    send('/documents/move', [
      ...dragging.files.map((file) => ['file', file]),
      ['to', folderElement.dataset.folder],
      returnTo,
    ]);
  else send(`/vault/${dragging.folder}/move`, [['parent', folderElement.dataset.folder], returnTo]);
});

prepare();
