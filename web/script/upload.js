// Uploads dropped, selected, or pasted documents with the tus protocol, three at a time, and shows the
// progress of each. Uploads resume automatically after the connection is lost. Without scripts, the
// section's form sends the documents.
(() => {
  'use strict';

  const section = document.querySelector('[data-upload]');
  if (!section || !window.tus || !window.tus.isSupported) return;

  const destination = section.dataset.to || 'none';
  const endpoint = '/uploads';
  const keepsFolders = !destination.startsWith('abstract:');
  const maxConcurrent = 3;
  const folderOf = new WeakMap(); // by file: the path of the folders it came from, separated by slashes
  const urlStorage = tus.defaultOptions.urlStorage;
  // A restart of the server takes at most a minute; a network failure can last longer.
  const retryDelays = [500, 1000, 2000, 4000, 8000, ...Array(60).fill(10000)];
  const ignoredNames = /^(\.|~\$|thumbs\.db$|desktop\.ini$)/i;

  // ---- elements of the page

  const createElement = (tag, className, text) => {
    const el = document.createElement(tag);
    if (className) el.className = className;
    if (text) el.textContent = text;
    return el;
  };
  const createNote = (text) => {
    const el = createElement('p', 'muted', text);
    el.style.gridColumn = '1 / -1';
    el.style.whiteSpace = 'normal';
    return el;
  };
  const button = (text, label, act) => {
    const el = createElement('button', 'quiet', text);
    el.type = 'button';
    el.setAttribute('aria-label', label);
    el.addEventListener('click', act);
    return el;
  };

  const form = section.querySelector('form');
  const input = form.querySelector('input[type=file]');
  const hint = form.querySelector('.hint') || form.appendChild(createElement('p', 'hint'));
  const plainButton = form.querySelector('[data-plain], button:not([type=button])');
  const tools = plainButton.parentElement;
  const summary = createElement('p', 'muted');
  const list = createElement('ul', 'uploads');
  const liveRegion = createElement('p', 'visually-hidden');
  const alertLine = createElement('p', 'problem');
  liveRegion.setAttribute('role', 'status');
  alertLine.setAttribute('role', 'alert');
  alertLine.hidden = true;
  summary.hidden = true;
  list.setAttribute('aria-label', 'Uploads in progress');
  plainButton.remove();
  input.required = false;
  // Phones don't drop or paste files.
  hint.prepend(createElement('span', 'drops', 'Or drop files and folders anywhere on this page, or paste files. ' + (keepsFolders ? '' : 'Subfolders aren\'t kept. An abstract has a single list of documents. ')));

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
  section.append(alertLine, summary, list, liveRegion);
  form.addEventListener('submit', (event) => event.preventDefault());

  const announce = (text) => { liveRegion.textContent = text; };

  const count = (n, singular, plural) => n + ' ' + (n === 1 ? singular : plural);
  const formatBytes = (n) => {
    if (n < 1000) return count(n, 'byte', 'bytes');
    let unit = '';
    for (unit of ['KB', 'MB', 'GB']) {
      n /= 1000;
      if (n < 999.5) break;
    }
    return (n < 9.95 ? n.toFixed(1) : Math.round(n)) + ' ' + unit;
  };
  const formatDuration = (seconds) => {
    if (seconds < 60) return Math.max(1, Math.round(seconds)) + ' s';
    if (seconds < 3600) return Math.round(seconds / 60) + ' min';
    return Math.round(seconds / 3600) + ' h';
  };

  // ---- one document

  // waiting → sending ⇄ lost → filing → filed
  // refused
  // failed; cancelled from any state
  const items = [];
  const isActive = (item) => ['waiting', 'sending', 'lost', 'filing', 'signedout'].includes(item.state);

  const showRate = (item, text) => { item.rate.textContent = text || ''; };
  const showProblem = (item, text) => {
    item.problem.textContent = text || '';
    item.problem.hidden = !text;
  };

  const addRow = (item) => {
    item.li = createElement('li', 'upload');
    const title = (item.path ? item.path + '/' : '') + item.file.name;
    item.label = createElement('span', 'name', title);
    item.label.title = title;
    item.rate = createElement('output', 'rate');
    item.rate.setAttribute('aria-live', 'off'); // it changes constantly; the outcome is announced
    item.buttons = createElement('span', 'row');
    item.bar = createElement('progress');
    item.bar.max = Math.max(1, item.file.size);
    item.bar.value = 0;
    item.bar.setAttribute('aria-label', 'Progress of ' + item.file.name);
    item.note = createNote('');
    item.note.hidden = true;
    item.problem = createElement('p', 'problem');
    item.problem.hidden = true;
    item.cancel = button('Cancel', 'Cancel ' + item.file.name, () => cancel(item));
    item.retry = button('Retry', 'Retry ' + item.file.name, () => retryUpload(item));
    item.buttons.append(item.cancel);
    item.li.append(item.label, item.rate, item.buttons, item.bar, item.note, item.problem);
    list.append(item.li);
    showRate(item, 'Waiting');
  };

  const setState = (item, state) => {
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

  const removeRow = (item) => {
    const next = item.li.nextElementSibling || item.li.previousElementSibling;
    const focused = item.li.contains(document.activeElement);
    item.li.remove();
    items.splice(items.indexOf(item), 1);
    if (!items.length && !counts.folders.size) resetCounts();
    if (focused) (next ? next.querySelector('button') : input)?.focus();
    updateSummary();
  };

  const counts = { filed: 0, refused: 0, folders: new Set() };
  let announced = 0;
  const resetCounts = () => {
    counts.filed = counts.refused = announced = 0;
    counts.folders.clear();
  };
  const uploadedText = () => counts.filed + ' uploaded' + (counts.folders.size ? ' to ' + count(counts.folders.size, 'folder', 'folders') : '');
  const updateSummary = () => {
    const remaining = items.filter(isActive).length;
    const parts = [];
    if (remaining) parts.push(remaining + ' uploading');
    if (counts.filed) parts.push(uploadedText());
    if (counts.refused) parts.push(counts.refused + ' not uploaded');
    summary.textContent = parts.join(', ') + (parts.length ? '.' : '');
    summary.hidden = !parts.length;
  };
  const announceEnd = () => {
    const remaining = items.filter(isActive).length;
    if (remaining || announced === counts.filed + counts.refused) return;
    announced = counts.filed + counts.refused;
    announce('Uploads finished: ' + uploadedText() + (counts.refused ? ', ' + counts.refused + ' not uploaded.' : '.'));
  };

  // ---- sending

  const fingerprint = (file, options) => Promise.resolve(['deedkeep', destination, (options.metadata.path ? options.metadata.path + '/' : '') + file.name, file.size, file.lastModified].join('|'));

  const statusOf = (item, err) => {
    if (err && err.originalResponse) return err.originalResponse.getStatus();
    return (err && err.causingError && err.causingError.status) || 0;
  };
  const messageOf = (err) => {
    try {
      return JSON.parse(err.originalResponse.getBody()).message || '';
    } catch {
      return '';
    }
  };
  const permanentErrors = [400, 403, 412, 413, 415, 422];

  const removeStored = async (item) => {
    for (const previous of await item.upload.findPreviousUploads()) await urlStorage.removeUpload(previous.urlStorageKey);
  };

  const createUpload = (item) => {
    item.samples = [];
    item.upload = new tus.Upload(item.file, {
      endpoint,
      fingerprint,
      retryDelays: retryDelays,
      metadata: { filename: item.file.name, to: destination, batch: item.batch, turn: String(item.turn), ...(item.path && { path: item.path }) },
      storeFingerprintForResuming: true,
      removeFingerprintOnSuccess: false,
      onUploadUrlAvailable: () => {
        // Save the address, because some responses make the library discard it.
        item.upload.options.uploadUrl = item.upload.url;
      },
      onAfterResponse: (req, res) => {
        const status = res.getStatus();
        // Otherwise the library would restart the upload even if the server is only busy.
        if (req.getMethod() === 'HEAD' && (status === 401 || status === 403 || status === 429 || status >= 500)) {
          throw Object.assign(new Error('not now'), { status });
        }
      },
      onProgress: (sent) => progress(item, sent),
      onShouldRetry: (err) => {
        const status = statusOf(item, err);
        if (status === 401 || status === 507 || permanentErrors.includes(status)) return false;
        setState(item, 'lost');
        showRate(item, navigator.onLine === false ? 'Connection lost. The upload will resume automatically.' : 'Waiting for the server');
        return true;
      },
      onError: (err) => markFailed(item, err),
      onSuccess: () => fetchOutcome(item),
    });
  };

  const startUpload = async (item) => {
    setState(item, 'sending');
    showProblem(item, '');
    showRate(item, 'Starting');
    if (!item.upload) {
      createUpload(item);
      const previousUploads = await item.upload.findPreviousUploads();
      if (item.state !== 'sending') return; // canceled in the meantime
      previousUploads.sort((a, b) => new Date(b.creationTime) - new Date(a.creationTime));
      if (previousUploads.length) {
        item.upload.resumeFromPreviousUpload(previousUploads[0]);
        removeInterrupted(previousUploads[0]);
      }
    }
    item.upload.start();
  };

  // After the last byte, the server checks the document before it responds.
  const showChecking = (item) => {
    showRate(item, 'Checking…');
    item.bar.setAttribute('aria-label', 'Checking ' + item.file.name);
    item.bar.setAttribute('aria-valuetext', 'Checking');
  };
  const showUploading = (item) => {
    item.bar.setAttribute('aria-label', 'Progress of ' + item.file.name);
    item.bar.removeAttribute('aria-valuetext');
  };

  const progress = (item, sent) => {
    const now = performance.now();
    if (item.state === 'lost') setState(item, 'sending');
    item.bar.value = sent;
    if (sent >= item.file.size) {
      showChecking(item);
      return;
    }
    showUploading(item);
    item.samples.push([now, sent]);
    while (item.samples.length > 2 && now - item.samples[0][0] > 4000) item.samples.shift();
    if (item.shown && now - item.shown < 200) return;
    item.shown = now;
    const [since, from] = item.samples[0];
    const rate = now > since ? (sent - from) / ((now - since) / 1000) : 0;
    let text = formatBytes(sent) + ' of ' + formatBytes(item.file.size);
    if (rate > 0) {
      text += ' · ' + formatBytes(rate) + '/s · ' + formatDuration((item.file.size - sent) / rate) + ' left';
    }
    showRate(item, text);
  };

  const markFailed = (item, err) => {
    const status = statusOf(item, err);
    if (status === 401) {
      waitForSignIn(item);
    } else if (permanentErrors.includes(status)) {
      markRejected(item, messageOf(err) || 'The server rejected this file.');
    } else {
      counts.refused++;
      showProblem(item, messageOf(err) || 'Upload failed. Your progress is saved; select Retry.');
      announce(item.file.name + ' could not be uploaded.');
      showRate(item, '');
      setState(item, 'failed');
    }
    startWaiting();
  };

  const markRejected = (item, why) => {
    counts.refused++;
    showProblem(item, why);
    showRate(item, 'Rejected');
    announce(item.file.name + ' was rejected: ' + why);
    setState(item, 'refused');
    if (item.upload) removeStored(item);
    startWaiting();
  };

  const pause = (ms) => new Promise((done) => setTimeout(done, ms));

  // fetchOutcome requests the result of a document whose bytes have all arrived.
  const fetchOutcome = async (item) => {
    setState(item, 'filing');
    item.bar.value = item.bar.max;
    showChecking(item);
    for (let attempts = 0; item.state === 'filing'; attempts++) {
      let result;
      try {
        const response = await fetch(item.upload.url, { headers: { Accept: 'application/json' }, cache: 'no-store' });
        if (response.status === 401) return waitForSignIn(item);
        if (response.status === 404) {
          // The server doesn't know the upload anymore: send it again from the start.
          item.upload.url = item.upload.options.uploadUrl = null;
          return startUpload(item);
        }
        result = await response.json();
        if (!response.ok) result = { message: result.message };
      } catch {
        result = {};
      }
      if (result.state === 'filed') return markFiled(item, result);
      if (result.state === 'refused') return markRejected(item, result.refusal + (result.advice ? '. ' + result.advice : ''));
      if (result.state === 'arriving' && result.offset < result.size) return startUpload(item);
      if (attempts > 60) {
        showProblem(item, result.message || "The server didn't confirm the upload. Reload the page to check.");
        setState(item, 'failed');
        return startWaiting();
      }
      if (attempts > 2) showRate(item, 'Waiting for the server');
      await pause(Math.min(500 * 2 ** attempts, 10000));
    }
  };

  const markFiled = (item, result) => {
    counts.filed++;
    if (item.path) counts.folders.add(item.path.toLowerCase());
    const link = createElement('a', 'name', (item.path ? item.path + '/' : '') + result.name);
    link.href = result.path;
    item.label.replaceWith(link);
    item.label = link;
    if (result.note) {
      if (result.note_path) {
        const other = createElement('a', '', result.note);
        other.href = result.note_path;
        item.note.replaceChildren(other);
      } else {
        item.note.textContent = result.note;
      }
      item.note.hidden = false;
      announce(item.file.name + ': ' + result.note);
    }
    showRate(item, 'Uploaded');
    setState(item, 'filed');
    removeStored(item);
    section.dispatchEvent(new CustomEvent('deedkeep:filed', { bubbles: true, detail: result }));
    if (!result.note) {
      setTimeout(() => {
        if (item.li.isConnected && !item.li.contains(document.activeElement)) removeRow(item);
      }, 4000);
    }
    startWaiting();
  };

  const cancel = async (item) => {
    const previousState = item.state;
    const url = item.upload && item.upload.url;
    item.state = 'cancelled';
    if (['sending', 'lost', 'signedout', 'failed', 'filing'].includes(previousState) && url) {
      // If this request fails, the upload expires on the server.
      item.upload.abort(true).catch(() => {});
      removeStored(item);
    } else if (item.upload) {
      item.upload.abort();
    }
    removeRow(item);
    startWaiting();
  };

  const retryUpload = (item) => {
    if (item.state === 'failed') counts.refused--;
    // Has its own timeout.
    const url = item.upload.url;
    item.upload.abort();
    createUpload(item);
    item.upload.options.uploadUrl = url;
    startUpload(item);
  };

  const startWaiting = () => {
    const busy = items.filter((item) => ['sending', 'lost', 'filing'].includes(item.state)).length;
    const waiting = items.filter((item) => item.state === 'waiting');
    for (const item of waiting.slice(0, Math.max(0, maxConcurrent - busy))) startUpload(item);
    announceEnd();
  };

  // ---- expired session

  let pollTimer = null;
  const waitForSignIn = (item) => {
    showRate(item, 'Signed out');
    setState(item, 'signedout');
    if (!alertLine.hidden) return;
    const link = createElement('a', '', 'Sign in again in a new tab');
    link.href = '/sign-in';
    link.target = '_blank';
    link.rel = 'noopener';
    const message = createElement('span');
    message.append('You were signed out. ', link, '. Your uploads then resume automatically.');
    alertLine.replaceChildren(message);
    alertLine.hidden = false;
    pollTimer = setInterval(checkSession, 5000);
  };
  const checkSession = async () => {
    if (alertLine.hidden) return;
    try {
      const response = await fetch(endpoint + '/none', { cache: 'no-store' });
      if (response.status === 401) return;
    } catch {
      return;
    }
    clearInterval(pollTimer);
    alertLine.hidden = true;
    for (const item of items.filter((candidate) => candidate.state === 'signedout')) startUpload(item);
  };
  window.addEventListener('focus', checkSession);

  // Retries immediately when the browser is online again.
  window.addEventListener('online', () => {
    for (const item of items.filter((candidate) => candidate.state === 'lost')) retryUpload(item);
  });

  window.addEventListener('beforeunload', (event) => {
    if (items.some(isActive)) {
      event.preventDefault();
      event.returnValue = '';
    }
  });

  // ---- choosing files

  let batchCount = 0;
  const addFiles = (files) => {
    const found = [...files];
    if (!found.length) return;
    if (!items.length) resetCounts();
    const batch = Date.now().toString(36) + '-' + batchCount++;
    found.forEach((file, turn) => {
      const item = { file, batch, turn, state: 'waiting', path: (keepsFolders && folderOf.get(file)) || '' };
      items.push(item);
      addRow(item);
      setState(item, 'waiting');
    });
    announce(count(found.length, 'document is', 'documents are') + ' uploading.');
    startWaiting();
  };
  const inOrder = (files) => files.sort((a, b) => (a.webkitRelativePath || a.name).localeCompare(b.webkitRelativePath || b.name, 'en', { numeric: true }));

  input.addEventListener('change', () => {
    addFiles(inOrder([...input.files]));
    input.value = '';
  });
  folder.addEventListener('change', () => {
    const files = inOrder([...folder.files].filter((file) => !file.webkitRelativePath.split('/').slice(1).some((name) => ignoredNames.test(name))));
    for (const file of files) folderOf.set(file, file.webkitRelativePath.split('/').slice(0, -1).join('/'));
    addFiles(files);
    folder.value = '';
    chooseFolder.focus();
  });

  const { typing } = window.deedkeep;
  document.addEventListener('paste', (event) => {
    const files = [...(event.clipboardData ? event.clipboardData.files : [])];
    if (!files.length || typing(event.target) && event.clipboardData.getData('text')) return;
    event.preventDefault();
    const now = new Date();
    const pad = (n) => String(n).padStart(2, '0');
    const stamp = now.getFullYear() + '-' + pad(now.getMonth() + 1) + '-' + pad(now.getDate()) + ' ' + pad(now.getHours()) + '.' + pad(now.getMinutes()) + '.' + pad(now.getSeconds());
    addFiles(files.map((file) => (file.name === 'image.png' ? new File([file], 'Pasted ' + stamp + '.png', { type: file.type }) : file)));
  });

  const hasFiles = (event) => event.dataTransfer && [...event.dataTransfer.types].includes('Files');
  const overlay = createElement('div', 'drop-over', 'Drop files or folders to upload them here');
  overlay.setAttribute('aria-hidden', 'true');
  let dragDepth = 0;
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
    const entries = [...event.dataTransfer.items].filter((transferred) => transferred.kind === 'file').map((transferred) => transferred.webkitGetAsEntry?.() || transferred.getAsFile());
    const found = [];
    for (const entry of entries) await collectFiles(entry, found, '');
    found.sort((a, b) => a.path.localeCompare(b.path, 'en', { numeric: true }));
    addFiles(found.map((dropped) => dropped.file));
    const unread = found.unread || 0;
    if (unread) announce(count(unread, 'file', 'files') + ' could not be read.');
  });

  // collectFiles reads a dropped file, or a folder with all its subfolders.
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
      for (;;) { // it returns up to 100 entries per call
        const next = await new Promise((done, fail) => reader.readEntries(done, fail));
        if (!next.length) return;
        for (const child of next) await collectFiles(child, found, path + entry.name + '/');
      }
    } catch {
      found.unread = (found.unread || 0) + 1;
    }
  };

  // ---- uploads that were interrupted when the page was closed

  const interrupted = new Map(); // storage key → list item
  const removeInterrupted = (previous) => {
    for (const [key, li] of interrupted) {
      if (key === previous.urlStorageKey) li.remove();
    }
  };
  const listInterrupted = async () => {
    for (const stored of await urlStorage.findAllUploads()) {
      if (!stored.metadata || stored.metadata.to !== destination || !stored.uploadUrl) continue;
      let result = {};
      try {
        const response = await fetch(stored.uploadUrl, { cache: 'no-store' });
        if (response.ok) result = await response.json();
        else if (response.status !== 404) continue;
      } catch {
        continue;
      }
      if (result.state === 'arrived') continue; // nearly finished
      if (result.state !== 'arriving') { // finished, canceled, or of another user
        await urlStorage.removeUpload(stored.urlStorageKey);
        if (result.state === 'filed') section.dispatchEvent(new CustomEvent('deedkeep:filed', { bubbles: true, detail: result }));
        continue;
      }
      const li = createElement('li', 'upload');
      const name = createElement('span', 'name', stored.metadata.filename);
      const rate = createElement('output', 'rate', Math.floor(100 * result.offset / result.size) + '% uploaded');
      const note = createNote('Upload interrupted. Select or drop the same file again to resume.');
      const forgetButton = button('Discard', 'Discard ' + stored.metadata.filename, async () => {
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
})();
