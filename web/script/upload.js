// Uploads documents that are dropped, selected, or pasted, by tus: three at a time, each with its
// progress. Uploads resume automatically after a lost connection. Without this script, the form of
// the section sends them.
(() => {
  'use strict';

  const section = document.querySelector('[data-upload]');
  if (!section || !window.tus || !window.tus.isSupported) return;

  const to = section.dataset.to || 'none';
  const endpoint = '/uploads';
  const keepsFolders = !to.startsWith('abstract:');
  const atOnce = 3;
  const folderOf = new WeakMap(); // by file: the path of the folders it came from, separated by slashes
  const stored = tus.defaultOptions.urlStorage;
  // A restart of the server takes at most a minute; a network failure can last longer.
  const patience = [500, 1000, 2000, 4000, 8000, ...Array(60).fill(10000)];
  const ignored = /^(\.|~\$|thumbs\.db$|desktop\.ini$)/i;

  // ---- elements of the page

  const make = (tag, className, text) => {
    const el = document.createElement(tag);
    if (className) el.className = className;
    if (text) el.textContent = text;
    return el;
  };
  const remark = (text) => {
    const el = make('p', 'muted', text);
    el.style.gridColumn = '1 / -1';
    el.style.whiteSpace = 'normal';
    return el;
  };
  const button = (text, label, act) => {
    const el = make('button', 'quiet', text);
    el.type = 'button';
    el.setAttribute('aria-label', label);
    el.addEventListener('click', act);
    return el;
  };

  const form = section.querySelector('form');
  const input = form.querySelector('input[type=file]');
  const hint = form.querySelector('.hint') || form.appendChild(make('p', 'hint'));
  const plain = form.querySelector('[data-plain], button:not([type=button])');
  const tools = plain.parentElement;
  const summary = make('p', 'muted');
  const list = make('ul', 'uploads');
  const live = make('p', 'visually-hidden');
  const warned = make('p', 'problem');
  live.setAttribute('role', 'status');
  warned.setAttribute('role', 'alert');
  warned.hidden = true;
  summary.hidden = true;
  list.setAttribute('aria-label', 'Documents on their way');
  plain.remove();
  input.required = false;
  // Phones don't drop or paste files.
  hint.prepend(make('span', 'drops', 'Or drop documents and folders anywhere on this page, or paste them. ' + (keepsFolders ? '' : 'Folders are flattened: an abstract has one list of documents. ')));

  const folder = make('input');
  folder.type = 'file';
  folder.multiple = true;
  folder.hidden = true;
  folder.webkitdirectory = true;
  const chooseFolder = button('Choose a folder', 'Choose a folder of documents', () => folder.click());
  chooseFolder.className = '';
  chooseFolder.removeAttribute('aria-label');
  if ('webkitdirectory' in folder) tools.append(chooseFolder);
  form.append(folder);
  section.append(warned, summary, list, live);
  form.addEventListener('submit', (event) => event.preventDefault());

  const say = (text) => { live.textContent = text; };

  const some = (n, one, many) => n + ' ' + (n === 1 ? one : many);
  const bytes = (n) => {
    if (n < 1000) return some(n, 'byte', 'bytes');
    let unit = '';
    for (unit of ['KB', 'MB', 'GB']) {
      n /= 1000;
      if (n < 999.5) break;
    }
    return (n < 9.95 ? n.toFixed(1) : Math.round(n)) + ' ' + unit;
  };
  const lasting = (seconds) => {
    if (seconds < 60) return Math.max(1, Math.round(seconds)) + ' s';
    if (seconds < 3600) return Math.round(seconds / 60) + ' min';
    return Math.round(seconds / 3600) + ' h';
  };

  // ---- one document

  // waiting → sending ⇄ lost → filing → filed
  // refused
  // failed; cancelled from any state
  const items = [];
  const active = (item) => ['waiting', 'sending', 'lost', 'filing', 'signedout'].includes(item.state);

  const show = (item, text) => { item.rate.textContent = text || ''; };
  const complain = (item, text) => {
    item.problem.textContent = text || '';
    item.problem.hidden = !text;
  };

  const row = (item) => {
    item.li = make('li', 'upload');
    const named = (item.path ? item.path + '/' : '') + item.file.name;
    item.label = make('span', 'name', named);
    item.label.title = named;
    item.rate = make('output', 'rate');
    item.rate.setAttribute('aria-live', 'off'); // it changes constantly; the outcome is announced
    item.buttons = make('span', 'row');
    item.bar = make('progress');
    item.bar.max = Math.max(1, item.file.size);
    item.bar.value = 0;
    item.bar.setAttribute('aria-label', 'Progress of ' + item.file.name);
    item.note = remark('');
    item.note.hidden = true;
    item.problem = make('p', 'problem');
    item.problem.hidden = true;
    item.cancel = button('Cancel', 'Cancel ' + item.file.name, () => cancel(item));
    item.retry = button('Retry', 'Retry ' + item.file.name, () => again(item));
    item.buttons.append(item.cancel);
    item.li.append(item.label, item.rate, item.buttons, item.bar, item.note, item.problem);
    list.append(item.li);
    show(item, 'Waiting');
  };

  const enter = (item, state) => {
    item.state = state;
    item.li.dataset.state = state;
    const over = !active(item);
    item.bar.hidden = over;
    item.cancel.textContent = over ? 'Dismiss' : 'Cancel';
    item.cancel.setAttribute('aria-label', (over ? 'Dismiss ' : 'Cancel ') + item.file.name);
    if (state === 'failed' || state === 'lost') item.buttons.prepend(item.retry);
    else item.retry.remove();
    tell();
  };

  const drop = (item) => {
    const next = item.li.nextElementSibling || item.li.previousElementSibling;
    const focused = item.li.contains(document.activeElement);
    item.li.remove();
    items.splice(items.indexOf(item), 1);
    if (!items.length && !counts.folders.size) forgetCounts();
    if (focused) (next ? next.querySelector('button') : input)?.focus();
    tell();
  };

  const counts = { filed: 0, refused: 0, folders: new Set() };
  let announced = 0;
  const forgetCounts = () => {
    counts.filed = counts.refused = announced = 0;
    counts.folders.clear();
  };
  const done = () => counts.filed + ' uploaded' + (counts.folders.size ? ' to ' + some(counts.folders.size, 'folder', 'folders') : '');
  const tell = () => {
    const left = items.filter(active).length;
    const parts = [];
    if (left) parts.push(some(left, 'document', 'documents') + ' on the way');
    if (counts.filed) parts.push(done());
    if (counts.refused) parts.push(counts.refused + ' not uploaded');
    summary.textContent = parts.join(', ') + (parts.length ? '.' : '');
    summary.hidden = !parts.length;
  };
  const ended = () => {
    const left = items.filter(active).length;
    if (left || announced === counts.filed + counts.refused) return;
    announced = counts.filed + counts.refused;
    say('All done: ' + done() + (counts.refused ? ', ' + counts.refused + ' not uploaded.' : '.'));
  };

  // ---- sending

  const fingerprint = (file, options) => Promise.resolve(['deedkeep', to, (options.metadata.path ? options.metadata.path + '/' : '') + file.name, file.size, file.lastModified].join('|'));

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
  const refusals = [400, 403, 412, 413, 415, 422];

  const forgetStored = async (item) => {
    for (const one of await item.upload.findPreviousUploads()) await stored.removeUpload(one.urlStorageKey);
  };

  const build = (item) => {
    item.samples = [];
    item.upload = new tus.Upload(item.file, {
      endpoint,
      fingerprint,
      retryDelays: patience,
      metadata: { filename: item.file.name, to, batch: item.batch, turn: String(item.turn), ...(item.path && { path: item.path }) },
      storeFingerprintForResuming: true,
      removeFingerprintOnSuccess: false,
      onUploadUrlAvailable: () => {
        // Saved, because some responses make the library discard it.
        item.upload.options.uploadUrl = item.upload.url;
      },
      onAfterResponse: (req, res) => {
        const status = res.getStatus();
        // Without this the library would restart the upload when the server is only busy.
        if (req.getMethod() === 'HEAD' && (status === 401 || status === 403 || status === 429 || status >= 500)) {
          throw Object.assign(new Error('not now'), { status });
        }
      },
      onProgress: (sent) => progress(item, sent),
      onShouldRetry: (err) => {
        const status = statusOf(item, err);
        if (status === 401 || status === 507 || refusals.includes(status)) return false;
        enter(item, 'lost');
        show(item, navigator.onLine === false ? 'No connection; goes on by itself' : 'Waiting for the server');
        return true;
      },
      onError: (err) => failed(item, err),
      onSuccess: () => outcome(item),
    });
  };

  const start = async (item) => {
    enter(item, 'sending');
    complain(item, '');
    show(item, 'Starting');
    if (!item.upload) {
      build(item);
      const before = await item.upload.findPreviousUploads();
      if (item.state !== 'sending') return; // canceled in the meantime
      before.sort((a, b) => new Date(b.creationTime) - new Date(a.creationTime));
      if (before.length) {
        item.upload.resumeFromPreviousUpload(before[0]);
        resumed(before[0]);
      }
    }
    item.upload.start();
  };

  // After the last byte, the server checks the document before it responds.
  const checking = (item) => {
    show(item, 'Checking…');
    item.bar.setAttribute('aria-label', 'Checking ' + item.file.name);
    item.bar.setAttribute('aria-valuetext', 'Checking');
  };
  const unchecked = (item) => {
    item.bar.setAttribute('aria-label', 'Progress of ' + item.file.name);
    item.bar.removeAttribute('aria-valuetext');
  };

  const progress = (item, sent) => {
    const now = performance.now();
    if (item.state === 'lost') enter(item, 'sending');
    item.bar.value = sent;
    if (sent >= item.file.size) {
      checking(item);
      return;
    }
    unchecked(item);
    item.samples.push([now, sent]);
    while (item.samples.length > 2 && now - item.samples[0][0] > 4000) item.samples.shift();
    if (item.shown && now - item.shown < 200) return;
    item.shown = now;
    const [since, from] = item.samples[0];
    const rate = now > since ? (sent - from) / ((now - since) / 1000) : 0;
    let text = bytes(sent) + ' of ' + bytes(item.file.size);
    if (rate > 0) {
      text += ' · ' + bytes(rate) + '/s · ' + lasting((item.file.size - sent) / rate) + ' left';
    }
    show(item, text);
  };

  const failed = (item, err) => {
    const status = statusOf(item, err);
    if (status === 401) {
      signedOut(item);
    } else if (refusals.includes(status)) {
      refuse(item, messageOf(err) || 'It was refused.');
    } else {
      counts.refused++;
      complain(item, messageOf(err) || 'It could not be sent. What arrived is kept; try again.');
      say(item.file.name + ' could not be sent.');
      show(item, '');
      enter(item, 'failed');
    }
    pump();
  };

  const refuse = (item, why) => {
    counts.refused++;
    complain(item, why);
    show(item, 'Not uploaded');
    say(item.file.name + ' was not uploaded: ' + why);
    enter(item, 'refused');
    if (item.upload) forgetStored(item);
    pump();
  };

  const pause = (ms) => new Promise((done) => setTimeout(done, ms));

  // outcome asks for the result of a document whose bytes have all arrived.
  const outcome = async (item) => {
    enter(item, 'filing');
    item.bar.value = item.bar.max;
    checking(item);
    for (let tries = 0; item.state === 'filing'; tries++) {
      let answer;
      try {
        const response = await fetch(item.upload.url, { headers: { Accept: 'application/json' }, cache: 'no-store' });
        if (response.status === 401) return signedOut(item);
        if (response.status === 404) {
          // The server doesn't know the upload anymore: send it again from the start.
          item.upload.url = item.upload.options.uploadUrl = null;
          return start(item);
        }
        answer = await response.json();
        if (!response.ok) answer = { message: answer.message };
      } catch {
        answer = {};
      }
      if (answer.state === 'filed') return filed(item, answer);
      if (answer.state === 'refused') return refuse(item, answer.refusal + (answer.advice ? '. ' + answer.advice : ''));
      if (answer.state === 'arriving' && answer.offset < answer.size) return start(item);
      if (tries > 60) {
        complain(item, answer.message || 'The server does not say what became of it.');
        enter(item, 'failed');
        return pump();
      }
      if (tries > 2) show(item, 'Waiting for the server');
      await pause(Math.min(500 * 2 ** tries, 10000));
    }
  };

  const filed = (item, answer) => {
    counts.filed++;
    if (item.path) counts.folders.add(item.path.toLowerCase());
    const link = make('a', 'name', (item.path ? item.path + '/' : '') + answer.name);
    link.href = answer.path;
    item.label.replaceWith(link);
    item.label = link;
    if (answer.note) {
      if (answer.note_path) {
        const other = make('a', '', answer.note);
        other.href = answer.note_path;
        item.note.replaceChildren(other);
      } else {
        item.note.textContent = answer.note;
      }
      item.note.hidden = false;
      say(item.file.name + ': ' + answer.note);
    }
    show(item, 'Filed');
    enter(item, 'filed');
    forgetStored(item);
    section.dispatchEvent(new CustomEvent('deedkeep:filed', { bubbles: true, detail: answer }));
    if (!answer.note) {
      setTimeout(() => {
        if (item.li.isConnected && !item.li.contains(document.activeElement)) drop(item);
      }, 4000);
    }
    pump();
  };

  const cancel = async (item) => {
    const was = item.state;
    const url = item.upload && item.upload.url;
    item.state = 'cancelled';
    if (['sending', 'lost', 'signedout', 'failed', 'filing'].includes(was) && url) {
      // If this request fails, the upload expires on the server.
      item.upload.abort(true).catch(() => {});
      forgetStored(item);
    } else if (item.upload) {
      item.upload.abort();
    }
    drop(item);
    pump();
  };

  const again = (item) => {
    if (item.state === 'failed') counts.refused--;
    // Has its own timeout.
    const url = item.upload.url;
    item.upload.abort();
    build(item);
    item.upload.options.uploadUrl = url;
    start(item);
  };

  const pump = () => {
    const busy = items.filter((item) => ['sending', 'lost', 'filing'].includes(item.state)).length;
    const waiting = items.filter((item) => item.state === 'waiting');
    for (const item of waiting.slice(0, Math.max(0, atOnce - busy))) start(item);
    ended();
  };

  // ---- expired session

  let asking = null;
  const signedOut = (item) => {
    show(item, 'Signed out');
    enter(item, 'signedout');
    if (!warned.hidden) return;
    const link = make('a', '', 'Sign in again in a new tab');
    link.href = '/sign-in';
    link.target = '_blank';
    link.rel = 'noopener';
    const words = make('span');
    words.append('Your session has ended. ', link, '; what is on its way then goes on by itself.');
    warned.replaceChildren(words);
    warned.hidden = false;
    asking = setInterval(signedInAgain, 5000);
  };
  const signedInAgain = async () => {
    if (warned.hidden) return;
    try {
      const response = await fetch(endpoint + '/none', { cache: 'no-store' });
      if (response.status === 401) return;
    } catch {
      return;
    }
    clearInterval(asking);
    warned.hidden = true;
    for (const item of items.filter((one) => one.state === 'signedout')) start(item);
  };
  window.addEventListener('focus', signedInAgain);

  // Retries immediately when the browser is online again.
  window.addEventListener('online', () => {
    for (const item of items.filter((one) => one.state === 'lost')) again(item);
  });

  window.addEventListener('beforeunload', (event) => {
    if (items.some(active)) {
      event.preventDefault();
      event.returnValue = '';
    }
  });

  // ---- choosing files

  let batches = 0;
  const add = (files) => {
    const found = [...files];
    if (!found.length) return;
    if (!items.length) forgetCounts();
    const batch = Date.now().toString(36) + '-' + batches++;
    found.forEach((file, turn) => {
      const item = { file, batch, turn, state: 'waiting', path: (keepsFolders && folderOf.get(file)) || '' };
      items.push(item);
      row(item);
      enter(item, 'waiting');
    });
    say(some(found.length, 'document is', 'documents are') + ' being sent.');
    pump();
  };
  const inOrder = (files) => files.sort((a, b) => (a.webkitRelativePath || a.name).localeCompare(b.webkitRelativePath || b.name, 'en', { numeric: true }));

  input.addEventListener('change', () => {
    add(inOrder([...input.files]));
    input.value = '';
  });
  folder.addEventListener('change', () => {
    const files = inOrder([...folder.files].filter((file) => !file.webkitRelativePath.split('/').slice(1).some((name) => ignored.test(name))));
    for (const file of files) folderOf.set(file, file.webkitRelativePath.split('/').slice(0, -1).join('/'));
    add(files);
    folder.value = '';
    chooseFolder.focus();
  });

  const { typing } = window.deedkeep;
  document.addEventListener('paste', (event) => {
    const files = [...(event.clipboardData ? event.clipboardData.files : [])];
    if (!files.length || typing(event.target) && event.clipboardData.getData('text')) return;
    event.preventDefault();
    const now = new Date();
    const two = (n) => String(n).padStart(2, '0');
    const stamp = now.getFullYear() + '-' + two(now.getMonth() + 1) + '-' + two(now.getDate()) + ' ' + two(now.getHours()) + '.' + two(now.getMinutes()) + '.' + two(now.getSeconds());
    add(files.map((file) => (file.name === 'image.png' ? new File([file], 'Pasted ' + stamp + '.png', { type: file.type }) : file)));
  });

  const brings = (event) => event.dataTransfer && [...event.dataTransfer.types].includes('Files');
  const over = make('div', 'drop-over', 'Drop documents or folders to file them here');
  over.setAttribute('aria-hidden', 'true');
  let inside = 0;
  const cover = (on) => {
    if (on) document.body.append(over);
    else over.remove();
  };
  window.addEventListener('dragenter', (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    inside++;
    cover(true);
  });
  window.addEventListener('dragover', (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
  });
  window.addEventListener('dragleave', (event) => {
    if (!brings(event)) return;
    inside = Math.max(0, inside - 1);
    if (!inside) cover(false);
  });
  window.addEventListener('drop', async (event) => {
    inside = 0;
    cover(false);
    if (!brings(event)) return;
    event.preventDefault();
    // dataTransfer is empty after the first await, so its entries are collected before.
    const entries = [...event.dataTransfer.items].filter((one) => one.kind === 'file').map((one) => one.webkitGetAsEntry?.() || one.getAsFile());
    const found = [];
    for (const entry of entries) await gather(entry, found, '');
    found.sort((a, b) => a.path.localeCompare(b.path, 'en', { numeric: true }));
    add(found.map((one) => one.file));
    const unread = found.unread || 0;
    if (unread) say(some(unread, 'file', 'files') + ' could not be read.');
  });

  // gather reads a dropped file, or a folder with all its subfolders.
  const gather = async (entry, found, path) => {
    if (!entry) return;
    if (entry instanceof File) {
      found.push({ file: entry, path: entry.name });
      return;
    }
    try {
      if (entry.isFile) {
        if (path && ignored.test(entry.name)) return;
        const file = await new Promise((done, fail) => entry.file(done, fail));
        folderOf.set(file, path.slice(0, -1));
        found.push({ file, path: path + file.name });
        return;
      }
      if (path && ignored.test(entry.name)) return;
      const reader = entry.createReader();
      for (;;) { // it returns up to 100 entries per call
        const next = await new Promise((done, fail) => reader.readEntries(done, fail));
        if (!next.length) return;
        for (const one of next) await gather(one, found, path + entry.name + '/');
      }
    } catch {
      found.unread = (found.unread || 0) + 1;
    }
  };

  // ---- uploads that were interrupted when the page was closed

  const rests = new Map(); // url → element of its line
  const resumed = (previous) => {
    for (const [key, li] of rests) {
      if (key === previous.urlStorageKey) li.remove();
    }
  };
  const remember = async () => {
    for (const one of await stored.findAllUploads()) {
      if (!one.metadata || one.metadata.to !== to || !one.uploadUrl) continue;
      let answer = {};
      try {
        const response = await fetch(one.uploadUrl, { cache: 'no-store' });
        if (response.ok) answer = await response.json();
        else if (response.status !== 404) continue;
      } catch {
        continue;
      }
      if (answer.state === 'arrived') continue; // nearly finished
      if (answer.state !== 'arriving') { // finished, canceled, or of another user
        await stored.removeUpload(one.urlStorageKey);
        if (answer.state === 'filed') section.dispatchEvent(new CustomEvent('deedkeep:filed', { bubbles: true, detail: answer }));
        continue;
      }
      const li = make('li', 'upload');
      const name = make('span', 'name', one.metadata.filename);
      const rate = make('output', 'rate', Math.floor(100 * answer.offset / answer.size) + '% arrived');
      const note = remark('It broke off. Choose or drop the same document again, and it goes on from there.');
      const forget = button('Forget', 'Forget ' + one.metadata.filename, async () => {
        await stored.removeUpload(one.urlStorageKey);
        rests.delete(one.urlStorageKey);
        li.remove();
        input.focus();
        fetch(one.uploadUrl, { method: 'DELETE', headers: { 'Tus-Resumable': '1.0.0' } }).catch(() => {});
      });
      li.append(name, rate, forget, note);
      list.append(li);
      rests.set(one.urlStorageKey, li);
    }
  };
  remember();
})();
