// @ts-check
// Sends documents with the tus protocol, three at a time. Uploads resume automatically after the connection
// is lost.
import { signInLink } from './page.js';
import { removeInterrupted } from './upload-interrupted.js';
import {
  alertLine,
  announce,
  announceEnd,
  counts,
  createElement,
  destination,
  formatBytes,
  formatDuration,
  isActive,
  items,
  removeRow,
  section,
  setState,
  showProblem,
  showRate,
} from './upload-list.js';

const endpoint = '/uploads';
const maxConcurrent = 3;
const { urlStorage } = tus.defaultOptions;
// A restart of the server takes at most a minute; a network failure can last longer.
const retryDelays = [500, 1000, 2000, 4000, 8000, ...Array(60).fill(10000)];

/**
 * @param {File} file
 * @param {import('tus-js-client').UploadOptions} options
 */
const fingerprint = (file, options) =>
  Promise.resolve(
    [
      'deedkeep',
      destination,
      (options.metadata.path ? `${options.metadata.path}/` : '') + file.name,
      file.size,
      file.lastModified,
    ].join('|'),
  );

/** @param {any} err */
const statusOf = (err) => {
  if (err?.originalResponse) return err.originalResponse.getStatus();
  return err?.causingError?.status || 0;
};
/** @param {any} err */
const messageOf = (err) => {
  try {
    return JSON.parse(err.originalResponse.getBody()).message || '';
  } catch {
    return '';
  }
};
const permanentErrors = [400, 403, 412, 413, 415, 422];

/** @param {Upload} item */
const removeStored = async (item) => {
  for (const previous of await item.upload.findPreviousUploads()) await urlStorage.removeUpload(previous.urlStorageKey);
};

/** @param {Upload} item */
const createUpload = (item) => {
  item.samples = [];
  item.upload = new tus.Upload(item.file, {
    endpoint,
    fingerprint,
    retryDelays: retryDelays,
    metadata: {
      filename: item.file.name,
      to: destination,
      batch: item.batch,
      turn: String(item.turn),
      ...(item.path && { path: item.path }),
    },
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
      const status = statusOf(err);
      if (status === 401 || status === 507 || permanentErrors.includes(status)) return false;
      setState(item, 'lost');
      showRate(
        item,
        navigator.onLine === false
          ? 'Connection lost. The upload will resume automatically.'
          : 'Waiting for the server',
      );
      return true;
    },
    onError: (err) => markFailed(item, err),
    onSuccess: () => fetchOutcome(item),
  });
};

/** @param {Upload} item */
const startUpload = async (item) => {
  setState(item, 'sending');
  showProblem(item, '');
  showRate(item, 'Starting');
  if (!item.upload) {
    createUpload(item);
    const previousUploads = await item.upload.findPreviousUploads();
    if (item.state !== 'sending') return; // canceled in the meantime
    previousUploads.sort((a, b) => Date.parse(b.creationTime) - Date.parse(a.creationTime));
    if (previousUploads.length) {
      item.upload.resumeFromPreviousUpload(previousUploads[0]);
      removeInterrupted(previousUploads[0]);
    }
  }
  item.upload.start();
};

// After the last byte, the server checks the document before it responds.
/** @param {Upload} item */
const showChecking = (item) => {
  showRate(item, 'Checking…');
  item.bar.setAttribute('aria-label', `Checking ${item.file.name}`);
  item.bar.setAttribute('aria-valuetext', 'Checking');
};
/** @param {Upload} item */
const showUploading = (item) => {
  item.bar.setAttribute('aria-label', `Progress of ${item.file.name}`);
  item.bar.removeAttribute('aria-valuetext');
};

/**
 * @param {Upload} item
 * @param {number} sent
 */
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
  let text = `${formatBytes(sent)} of ${formatBytes(item.file.size)}`;
  if (rate > 0) {
    text += ` · ${formatBytes(rate)}/s · ${formatDuration((item.file.size - sent) / rate)} left`;
  }
  showRate(item, text);
};

/**
 * @param {Upload} item
 * @param {Error} err
 */
const markFailed = (item, err) => {
  const status = statusOf(err);
  if (status === 401) {
    waitForSignIn(item);
  } else if (permanentErrors.includes(status)) {
    markRejected(item, messageOf(err) || 'The server rejected this file.');
  } else {
    counts.refused++;
    showProblem(item, messageOf(err) || 'Upload failed. Your progress is saved; select Retry.');
    announce(`${item.file.name} could not be uploaded.`);
    showRate(item, '');
    setState(item, 'failed');
  }
  startWaiting();
};

/**
 * @param {Upload} item
 * @param {string} why
 */
const markRejected = (item, why) => {
  counts.refused++;
  showProblem(item, why);
  showRate(item, 'Rejected');
  announce(`${item.file.name} was rejected: ${why}`);
  setState(item, 'refused');
  if (item.upload) removeStored(item);
  startWaiting();
};

/** @param {number} ms */
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// fetchOutcome requests the result of a document whose bytes have all arrived.
/** @param {Upload} item */
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
    if (result.state === 'refused')
      return markRejected(item, result.refusal + (result.advice ? `. ${result.advice}` : ''));
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

/**
 * @param {Upload} item
 * @param {UploadResult} result
 */
const markFiled = (item, result) => {
  counts.filed++;
  if (item.path) counts.folders.add(item.path.toLowerCase());
  const link = createElement('a', 'name', (item.path ? `${item.path}/` : '') + result.name);
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
    announce(`${item.file.name}: ${result.note}`);
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

/** @param {Upload} item */
export const cancel = async (item) => {
  const previousState = item.state;
  const url = item.upload?.url;
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

/** @param {Upload} item */
export const retryUpload = (item) => {
  if (item.state === 'failed') counts.refused--;
  // Has its own timeout.
  const url = item.upload.url;
  item.upload.abort();
  createUpload(item);
  item.upload.options.uploadUrl = url;
  startUpload(item);
};

export const startWaiting = () => {
  const busy = items.filter((item) => ['sending', 'lost', 'filing'].includes(item.state)).length;
  const waiting = items.filter((item) => item.state === 'waiting');
  for (const item of waiting.slice(0, Math.max(0, maxConcurrent - busy))) startUpload(item);
  announceEnd();
};

// ---- expired session

let pollTimer = 0;
/** @param {Upload} item */
const waitForSignIn = (item) => {
  showRate(item, 'Signed out');
  setState(item, 'signedout');
  if (!alertLine.hidden) return;
  const message = createElement('span');
  message.append('You were signed out. ', signInLink(), '. Your uploads then resume automatically.');
  alertLine.replaceChildren(message);
  alertLine.hidden = false;
  pollTimer = setInterval(checkSession, 5000);
};
const checkSession = async () => {
  if (alertLine.hidden) return;
  try {
    const response = await fetch(`${endpoint}/none`, { cache: 'no-store' });
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
