// @ts-check
// Uploads that were interrupted when the page was closed.
import { button, createElement, createNote, destination, input, list, section } from './upload-list.js';

const { urlStorage } = tus.defaultOptions;

const interrupted = new Map(); // storage key → list item
/** @param {import('tus-js-client').PreviousUpload} previous */
export const removeInterrupted = (previous) => {
  for (const [key, li] of interrupted) {
    if (key === previous.urlStorageKey) li.remove();
  }
};
const listInterrupted = async () => {
  for (const stored of await urlStorage.findAllUploads()) {
    if (!stored.metadata || stored.metadata.to !== destination || !stored.uploadUrl) continue;
    /** @type {UploadResult} */
    let result = {};
    try {
      const response = await fetch(stored.uploadUrl, { cache: 'no-store' });
      if (response.ok) result = await response.json();
      else if (response.status !== 404) continue;
    } catch {
      continue;
    }
    if (result.state === 'arrived') continue; // nearly finished
    if (result.state !== 'arriving') {
      // finished, canceled, or of another user
      await urlStorage.removeUpload(stored.urlStorageKey);
      if (result.state === 'filed')
        section.dispatchEvent(new CustomEvent('deedkeep:filed', { bubbles: true, detail: result }));
      continue;
    }
    const li = createElement('li', 'upload');
    const name = createElement('span', 'name', stored.metadata.filename);
    const rate = createElement('output', 'rate', `${Math.floor((100 * result.offset) / result.size)}% uploaded`);
    const note = createNote('Upload interrupted. Select or drop the same file again to resume.');
    const forgetButton = button('Discard', `Discard ${stored.metadata.filename}`, async () => {
      await urlStorage.removeUpload(stored.urlStorageKey);
      interrupted.delete(stored.urlStorageKey);
      li.remove();
      input.focus();
      fetch(stored.uploadUrl, { method: 'DELETE', headers: { 'Tus-Resumable': '1.0.0' } }).catch(() => {});
    });
    li.append(name, rate, forgetButton, note);
    list.append(li);
    interrupted.set(stored.urlStorageKey, li);
  }
};

listInterrupted();
