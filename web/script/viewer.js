// The document viewer shows a column of page images, which the server renders at the displayed
// width. Without scripts, the viewer shows one page image and links.
(() => {
  'use strict';

  const viewer = document.querySelector('[data-viewer]');
  if (!viewer) return;
  const query = (selector) => viewer.querySelector(selector);
  const base = viewer.dataset.document;
  const pane = query('[data-pages]');

  const { store, load, watchConnection } = window.viewerLine;
  const { wordLayer, fillWords } = window.viewerWords;

  const finder = query('[data-finder]');
  const liveRegion = query('[data-said]');
  let announceTimer = 0;
  const announce = (text, after = 0) => {
    clearTimeout(announceTimer);
    announceTimer = setTimeout(() => { liveRegion.textContent = text; }, after);
  };

  const dialog = (name) => {
    const box = query(`[data-dialog="${name}"]`);
    if (!box) return;
    box.open = false; // initially, as without this script
    box.showModal();
    const input = box.querySelector('input[name="name"]');
    if (!input) return;
    const dot = input.value.lastIndexOf('.');
    input.focus();
    input.setSelectionRange(0, dot > 0 ? dot : input.value.length);
  };

  const openSibling = (direction) => {
    const to = viewer.dataset[direction];
    // The browser's Back button returns to the page from which the first document was opened.
    if (to) location.replace(to);
    else announce(direction === 'next' ? 'This is the last document.' : 'This is the first document.');
  };

  const actions = {
    facts: () => dialog('facts'),
    rename: () => dialog('rename'),
    keys: () => dialog('keys'),
    close: (event) => event.target.closest('dialog').close(),
    back: () => location.assign(viewer.dataset.back),
    leave: () => (document.querySelector('details.menu[open]') ? false : actions.back()),
    'document-next': () => openSibling('next'),
    'document-previous': () => openSibling('previous'),
  };
  const keys = {
    n: 'document-next', ']': 'document-next', p: 'document-previous', '[': 'document-previous', '?': 'keys',
    u: 'back', Escape: 'leave',
  };

  viewer.addEventListener('click', (event) => {
    const button = event.target.closest('[data-do]');
    if (!button || event.ctrlKey || event.metaKey || event.shiftKey && button.href) return;
    const action = actions[button.dataset.do];
    if (!action) return;
    event.preventDefault();
    const menu = button.closest('details.menu');
    if (menu) menu.open = false;
    action(event);
  });

  const { typing } = window.deedkeep;
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey || typing(event.target)) return;
    if (event.key === 'Escape' && event.target.closest('[data-panel]')) return; // viewerpanel.js handles it
    if (event.ctrlKey || event.metaKey) {
      if (event.key.toLowerCase() === 'f' && !event.shiftKey && actions.find) {
        event.preventDefault();
        actions.find(event);
      }
      return;
    }
    // Space and Enter activate a focused control.
    if ((event.key === ' ' || event.key === 'Enter') && event.target.closest('a, button, summary')) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = actions[keys[key]];
    if (!action) return;
    if (action(event) !== false) event.preventDefault();
  }, true);

  // A form that is open when the page loads was requested or has errors.
  const renameForm = query('[data-dialog="rename"][open] form');
  if (renameForm) {
    history.replaceState(null, '', renameForm.elements.back.value);
    dialog('rename');
  }

  if (viewer.dataset.as !== 'pages') {
    text();
    pane.focus({ preventScroll: true });
    return;
  }

  // Pages and their sizes, in CSS pixels at 100 %.

  const pages = [];
  for (const [times, width, height, pixels] of JSON.parse(viewer.dataset.sizes)) {
    for (let i = 0; i < times; i++) pages.push({ width: width * 96 / 72, height: height * 96 / 72, pixels, turn: Number(viewer.dataset.turns[pages.length]) || 0 });
  }
  const widths = JSON.parse(viewer.dataset.widths); // widths of images that the server renders
  const gap = 12;
  const minScale = 0.1, maxScale = 8;
  let fit = load('fit') || 'auto'; // auto, width, page, or none: then scale is the zoom factor
  let scale = 1;
  let current = Math.min(Math.max(Number(viewer.dataset.page) || 1, 1), pages.length);
  let extent = { width: 0, height: 0 };
  let ready = false; // the first page is in place

  const staticView = query('[data-still]');
  const first = staticView.querySelector('img');
  const column = document.createElement('div');
  column.className = 'viewer-space';
  staticView.replaceWith(column);
  viewer.dataset.live = '';

  const sizeOf = (page) => (page.turn % 2 ? { width: page.height, height: page.width } : { width: page.width, height: page.height });

  const fitScale = (page, available) => {
    const { width, height } = sizeOf(page);
    const widthScale = available.width / width;
    switch (fit) {
      case 'width': return widthScale;
      case 'page': return Math.min(widthScale, available.height / height);
      case 'auto': return Math.min(widthScale, Math.max(1.25, 0.62 * widthScale));
      default: return scale;
    }
  };

  // layout positions the pages and keeps the page that is in the middle of the pane there.
  const layout = (anchor = anchorAt()) => {
    const available = { width: Math.max(pane.clientWidth - 2 * gap, 80), height: Math.max(pane.clientHeight - 2 * gap, 80) };
    let top = gap, widest = 0;
    for (const page of pages) {
      const size = sizeOf(page);
      page.scale = Math.min(Math.max(fitScale(page, available), minScale), maxScale);
      page.w = Math.round(size.width * page.scale);
      page.h = Math.round(size.height * page.scale);
      page.top = top;
      top += page.h + gap;
      widest = Math.max(widest, page.w);
    }
    extent = { width: Math.max(widest + 2 * gap, pane.clientWidth), height: top };
    column.style.width = `${extent.width > pane.clientWidth ? extent.width : pane.clientWidth}px`;
    column.style.height = `${top}px`;
    for (const page of pages) page.left = Math.round((extent.width - page.w) / 2);
    if (anchor) restoreAnchor(anchor);
    query('[data-percent]').textContent = `${Math.round(pages[current - 1].scale * 100)}%`;
    if (ready) draw();
  };

  // anchorAt returns the page position at a point of the pane. The default is the pane's middle.
  const anchorAt = (x = pane.clientWidth / 2, y = pane.clientHeight / 2) => {
    if (!pages[0].h) return null;
    const n = pageAt(pane.scrollTop + y);
    const page = pages[n - 1];
    return { n, x, y, fx: (pane.scrollLeft + x - page.left) / page.w, fy: (pane.scrollTop + y - page.top) / page.h };
  };
  const restoreAnchor = ({ n, x, y, fx, fy }) => {
    const page = pages[n - 1];
    pane.scrollTop = page.top + fy * page.h - y;
    pane.scrollLeft = page.left + fx * page.w - x;
  };

  // pageAt returns the page at a vertical offset.
  const pageAt = (y) => {
    let low = 0, high = pages.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (pages[middle].top - gap / 2 <= y) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };

  // Image loading: visible pages are loaded first, two at a time. If a page is scrolled out of view,
  // loading its image is canceled.

  const images = new Map(); // address → { image, ready, pixels }
  const loading = new Map(); // address → image
  const failed = new Map(); // address → number of failures
  let wantedUrls = [], urgentCount = 0; // the first urgent ones are in view
  const maxLoads = 2;
  // Stops retrying an image that failed repeatedly.
  const retries = 'broken' in viewer.dataset ? 0 : 1;
  const maxPixels = 120e6;

  const imageWidth = (page) => {
    // Use the width of the unrotated page, even if the page is rotated.
    const need = page.width * page.scale * Math.min(window.devicePixelRatio || 1, 3);
    const enough = page.pixels || page.width / 96 * 300;
    const want = Math.min(need * 0.92, Math.max(enough, 850));
    return widths.find((w) => w >= want) || widths[widths.length - 1];
  };
  const imageUrl = (n, width) => `${base}/pages/${n}?w=${width}`;

  // If loading failed because the session expired or the server was unreachable, the pages are
  // loaded again after the problem is resolved.
  const connection = watchConnection(query('.viewer-body'), () => {
    failed.clear();
    for (const image of strip.querySelectorAll('img')) {
      if (image.complete && !image.naturalWidth) image.src = image.getAttribute('src');
    }
    draw();
    saveTurns();
    if (finder && finder.elements.find.value && !hits.length) find(finder.elements.find.value);
  });

  const loadImages = () => {
    if (connection.state()) return;
    for (const [url, image] of loading) {
      if (wantedUrls.includes(url)) continue;
      loading.delete(url);
      image.src = '';
    }
    for (const [i, url] of wantedUrls.entries()) {
      // Load only visible pages first, because rendering keeps the server busy.
      if (loading.size >= maxLoads || i >= urgentCount && wantedUrls.slice(0, urgentCount).some((u) => loading.has(u))) return;
      if (images.has(url) || loading.has(url) || (failed.get(url) || 0) > retries) continue;
      fetchImage(url);
    }
  };

  const fetchImage = async (url) => {
    const image = new Image();
    image.decoding = 'async';
    image.alt = '';
    loading.set(url, image);
    image.src = url;
    try {
      await image.decode();
    } catch {
      if (loading.get(url) !== image) return; // canceled
      loading.delete(url);
      if (!await connection.checkSession()) failed.set(url, (failed.get(url) || 0) + 1);
      draw();
      await new Promise((resolve) => { setTimeout(resolve, 1500); });
      draw();
      return;
    }
    if (loading.get(url) !== image) return;
    loading.delete(url);
    failed.delete(url);
    images.set(url, image);
    evictImages();
    draw();
  };

  // evictImages drops the least recently used images.
  const evictImages = () => {
    let sum = 0;
    for (const image of images.values()) sum += image.naturalWidth * image.naturalHeight;
    for (const [url, image] of images) {
      if (sum <= maxPixels) return;
      if (wantedUrls.includes(url) || image.isConnected) continue;
      sum -= image.naturalWidth * image.naturalHeight;
      images.delete(url);
    }
  };

  const bestImage = (n, width) => {
    const exact = imageUrl(n, width);
    const image = images.get(exact);
    if (image) { // mark as recently used
      images.delete(exact);
      images.set(exact, image);
      return image;
    }
    for (const w of [...widths].reverse()) {
      const other = images.get(imageUrl(n, w));
      if (other) return other;
    }
    return null;
  };

  // Only visible pages and one more page on each side have an element.

  const pageElements = new Map(); // n → element
  const pageElement = (n) => {
    let el = pageElements.get(n);
    if (el) return el;
    el = document.createElement('div');
    el.className = 'viewer-paper';
    el.setAttribute('role', 'img');
    el.setAttribute('aria-label', `Page ${n}`);
    const marks = document.createElement('div');
    marks.className = 'viewer-marks';
    el.append(marks, wordLayer());
    pageElements.set(n, el);
    column.append(el);
    return el;
  };

  const updatePage = (n) => {
    const page = pages[n - 1];
    const el = pageElement(n);
    el.style.left = `${page.left}px`;
    el.style.top = `${page.top}px`;
    el.style.width = `${page.w}px`;
    el.style.height = `${page.h}px`;
    const { turn } = page;
    const unrotated = turn % 2 ? { w: page.h, h: page.w } : { w: page.w, h: page.h };
    const transform = [`none`, `translate(${page.w}px, 0) rotate(90deg)`, `translate(${page.w}px, ${page.h}px) rotate(180deg)`, `translate(0, ${page.h}px) rotate(270deg)`][turn];
    const image = bestImage(n, imageWidth(page));
    const shown = el.querySelector('img');
    if (image && shown !== image) {
      if (shown) shown.remove();
      el.prepend(image);
      el.classList.remove('failed');
    }
    const broken = (failed.get(imageUrl(n, imageWidth(page))) || 0) > retries;
    el.classList.toggle('waiting', !image && !broken && !connection.state());
    el.classList.toggle('absent', !image && !broken && Boolean(connection.state()));
    el.classList.toggle('failed', !image && broken);
    for (const part of el.children) {
      part.style.width = `${unrotated.w}px`;
      part.style.height = `${unrotated.h}px`;
      part.style.transform = transform;
    }
    drawMarks(n);
    if (image) drawWords(n);
  };

  // The words of a page are requested once its image is shown, and kept for the last pages shown.
  const wordsByPage = new Map();
  const maxWordPages = 40;
  const drawWords = async (n) => {
    if (!finder || connection.state()) return;
    if (!wordsByPage.has(n)) {
      wordsByPage.set(n, connection.request(`${base}/pages/${n}/words`).then((r) => (r.ok ? r.json() : null)).catch(() => null));
      if (wordsByPage.size > maxWordPages) wordsByPage.delete(wordsByPage.keys().next().value);
    }
    const words = await wordsByPage.get(n);
    // A page that isn't read yet is requested again after a while.
    if (!words?.words.length) setTimeout(() => wordsByPage.delete(n), 10_000);
    const el = pageElements.get(n);
    if (words && el) fillWords(el, words, pages[n - 1]);
  };

  const draw = () => {
    const top = pane.scrollTop, bottom = top + pane.clientHeight;
    const first = pageAt(top), last = pageAt(bottom);
    for (const [n, el] of pageElements) {
      if (n < first - 1 || n > last + 1) {
        el.remove();
        pageElements.delete(n);
      }
    }
    const from = Math.max(first - 1, 1), to = Math.min(last + 1, pages.length);
    const order = [];
    for (let n = first; n <= last; n++) order.push(n);
    order.sort((a, b) => Math.abs(a - current) - Math.abs(b - current));
    urgentCount = order.length;
    for (const n of [last + 1, last + 2, first - 1, last + 3]) {
      if (n >= 1 && n <= pages.length) order.push(n);
    }
    wantedUrls = order.map((n) => imageUrl(n, imageWidth(pages[n - 1])));
    for (let n = from; n <= to; n++) updatePage(n);
    loadImages();
    prerenderNext();
    setCurrentPage(mostVisiblePage(top, bottom, first, last));
  };

  // mostVisiblePage returns the page with the largest visible area. On a tie, it returns the first.
  const mostVisiblePage = (top, bottom, first, last) => {
    let found = first, maxVisible = -1;
    for (let n = first; n <= last; n++) {
      const page = pages[n - 1];
      const part = Math.min(bottom, page.top + page.h) - Math.max(top, page.top);
      if (part > maxVisible + 1) [found, maxVisible] = [n, part];
    }
    return found;
  };

  // prerenderNext makes the server render the first page of the next document. The request returns no
  // content, so it is not recorded as a view.
  let prerendered = false;
  const prerenderNext = () => {
    if (prerendered || loading.size || !viewer.dataset.warm) return;
    prerendered = true;
    fetch(`${viewer.dataset.warm}?w=${imageWidth(pages[0])}`, { method: 'HEAD' }).catch(() => {});
  };

  const numberInput = query('[data-number]');
  let shownPage = 0;
  const setCurrentPage = (n) => {
    if (n === shownPage) return;
    shownPage = n;
    current = n;
    viewer.dataset.shown = n;
    viewer.dispatchEvent(new CustomEvent('viewer:shown'));
    if (document.activeElement !== numberInput) numberInput.value = n;
    for (const [name, disabled] of [['previous', n <= 1], ['next', n >= pages.length]]) {
      const link = query(`[data-do="${name}"]`);
      if (disabled) link.setAttribute('aria-disabled', 'true');
      else link.removeAttribute('aria-disabled');
    }
    query('[data-percent]').textContent = `${Math.round(pages[n - 1].scale * 100)}%`;
    if (ready) announce(`Page ${n} of ${pages.length}`, 300);
    updateStrip(n);
    storePage();
  };

  // The address contains the page number, so that it can be shared.
  let rememberTimer = 0;
  const storePage = () => {
    clearTimeout(rememberTimer);
    rememberTimer = setTimeout(() => {
      const url = new URL(location.href);
      url.searchParams.set('page', current);
      for (const name of ['w', 'turn']) url.searchParams.delete(name);
      history.replaceState(null, '', url);
    }, 400);
  };

  const goTo = (n) => {
    n = Math.min(Math.max(n, 1), pages.length);
    const page = pages[n - 1];
    // Short pages are centered, long ones start at their top.
    const slack = Math.max((pane.clientHeight - page.h) / 2, 0);
    pane.scrollTop = page.top - Math.max(gap, slack);
    draw();
    setCurrentPage(n);
  };

  const turnPage = (by) => {
    const page = pages[current - 1];
    // From the middle of a long page, Previous goes to the top of the same page.
    if (by < 0 && pane.scrollTop > page.top + 0.15 * pane.clientHeight) goTo(current);
    else goTo(current + by);
  };

  // The instrument panel turns pages, too.
  viewer.addEventListener('viewer:go', (event) => goTo(event.detail));

  // scrollScreen scrolls by one screen, but not past the top of the next page.
  const scrollScreen = (by) => {
    const screen = 0.88 * pane.clientHeight;
    const top = pane.scrollTop;
    if (by > 0) {
      const next = pages[pageAt(top + gap + 1)];
      const edge = next ? next.top - gap : Infinity;
      pane.scrollTop = edge > top + 2 && edge < top + screen ? edge : top + screen;
    } else {
      pane.scrollTop = top - screen;
    }
    draw();
  };

  const scrollSideways = (by) => {
    const maxScroll = pane.scrollWidth - pane.clientWidth;
    if (maxScroll < 2 || (by < 0 ? pane.scrollLeft <= 1 : pane.scrollLeft >= maxScroll - 1)) return false;
    pane.scrollLeft += by * 0.4 * pane.clientWidth;
    return true;
  };

  // Zoom

  const updateFitButtons = () => {
    for (const name of ['width', 'page']) query(`[data-do="${name}"]`).setAttribute('aria-pressed', String(fit === name));
  };
  const fitTo = (name) => {
    fit = name;
    store('fit', name);
    updateFitButtons();
    layout();
  };
  const zoomTo = (to, anchor = anchorAt()) => {
    fit = 'none';
    scale = Math.min(Math.max(to, minScale), maxScale);
    store('fit', 'none');
    store('scale', scale);
    updateFitButtons();
    layout(anchor);
  };
  const steps = [0.1, 0.17, 0.25, 0.33, 0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 6, 8];
  const zoomBy = (by) => {
    const now = pages[current - 1].scale;
    const to = by > 0 ? steps.find((s) => s > now * 1.02) : [...steps].reverse().find((s) => s < now * 0.98);
    if (to) zoomTo(to);
    announce(`${Math.round(pages[current - 1].scale * 100)} percent`);
  };
  const rotate = (single) => {
    const anchor = anchorAt();
    const page = pages[current - 1];
    for (const turned of single ? [page] : pages) {
      turned.turn = (turned.turn + 1) % 4;
      unsavedTurns.add(turned);
    }
    thumbnails.forEach(turnThumbnail);
    layout(null);
    goTo(anchor.n);
    announce(`Rotated ${page.turn * 90} degrees${mayTurn ? '' : ', only on your screen'}`);
    saveTurns();
  };

  // The rotation of pages is stored for everyone, by users who may change documents. What can't be saved
  // because the connection is lost is saved later.
  const mayTurn = 'mayTurn' in viewer.dataset;
  let unsavedTurns = new Set(), savingTurns = false; // pages
  const saveTurns = async () => {
    if (!mayTurn || savingTurns || !unsavedTurns.size || connection.state()) return;
    const sent = unsavedTurns;
    const turns = pages.map((page) => (sent.has(page) ? page.turn : '-')).join('');
    unsavedTurns = new Set();
    savingTurns = true;
    try {
      const response = await connection.request(`${base}/rotation`, { method: 'POST', body: new URLSearchParams({ turns }), keepalive: true });
      if (!response.ok) announce("The rotation wasn't saved. Reload the page and try again.");
    } catch {
      unsavedTurns = new Set([...sent, ...unsavedTurns]);
    }
    savingTurns = false;
    saveTurns();
  };

  Object.assign(actions, {
    next: () => goTo(current + 1),
    previous: () => turnPage(-1),
    right: () => scrollSideways(1) || goTo(current + 1),
    left: () => scrollSideways(-1) || turnPage(-1),
    // Arrow keys change the page if it fits, otherwise they scroll.
    down: () => { if (fit === 'page') goTo(current + 1); else { pane.scrollTop += 60; draw(); } },
    up: () => { if (fit === 'page') goTo(current - 1); else { pane.scrollTop -= 60; draw(); } },
    on: (event) => scrollScreen(event.shiftKey ? -1 : 1),
    first: () => goTo(1),
    last: () => goTo(pages.length),
    in: () => zoomBy(1),
    out: () => zoomBy(-1),
    actual: () => zoomTo(1),
    width: () => fitTo('width'),
    page: () => fitTo('page'),
    rotate: (event) => rotate(event.shiftKey),
    number: () => { numberInput.focus(); numberInput.select(); },
    strip: () => showStrip(!stripShown),
  });
  Object.assign(keys, {
    ArrowRight: 'right', ArrowLeft: 'left', PageDown: 'next', PageUp: 'previous', ArrowDown: 'down', ArrowUp: 'up',
    ' ': 'on', Home: 'first', End: 'last', '+': 'in', '=': 'in', '-': 'out', '_': 'out', 0: 'actual', w: 'width', f: 'page',
    r: 'rotate', g: 'number', s: 'strip', j: 'next', k: 'previous',
  });

  const pageForm = numberInput.form;
  const goToTyped = () => {
    const n = Number.parseInt(numberInput.value, 10);
    if (n >= 1 && n <= pages.length) goTo(n);
    numberInput.value = current;
  };
  pageForm.addEventListener('submit', (event) => {
    event.preventDefault();
    goToTyped();
    pane.focus({ preventScroll: true });
  });
  numberInput.addEventListener('focus', () => numberInput.select());
  numberInput.addEventListener('blur', goToTyped);
  numberInput.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    numberInput.value = current;
    pane.focus({ preventScroll: true });
  });

  let frameRequest = 0;
  pane.addEventListener('scroll', () => {
    if (frameRequest) return;
    frameRequest = requestAnimationFrame(() => { frameRequest = 0; draw(); });
  }, { passive: true });

  pane.addEventListener('wheel', (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = pane.getBoundingClientRect();
    const now = pages[current - 1].scale;
    zoomTo(now * Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 200), anchorAt(event.clientX - box.left, event.clientY - box.top));
  }, { passive: false });

  // Two fingers zoom, one finger scrolls.
  let pinch = null;
  const spanOf = (touches) => {
    const box = pane.getBoundingClientRect();
    const [a, b] = touches;
    return {
      length: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY),
      x: (a.clientX + b.clientX) / 2 - box.left, y: (a.clientY + b.clientY) / 2 - box.top,
    };
  };
  pane.addEventListener('touchstart', (event) => {
    if (event.touches.length !== 2) return;
    event.preventDefault();
    const span = spanOf(event.touches);
    pinch = { length: span.length, scale: pages[current - 1].scale, anchor: anchorAt(span.x, span.y) };
  }, { passive: false });
  pane.addEventListener('touchmove', (event) => {
    if (!pinch || event.touches.length !== 2) return;
    event.preventDefault();
    const span = spanOf(event.touches);
    zoomTo(pinch.scale * span.length / Math.max(pinch.length, 20), { ...pinch.anchor, x: span.x, y: span.y });
  }, { passive: false });
  pane.addEventListener('touchend', () => { pinch = null; });

  // Dragging with the mouse scrolls a page that is larger than the pane.
  let drag = null;
  pane.addEventListener('pointerdown', (event) => {
    if (event.pointerType !== 'mouse' || event.button !== 0 || event.target === pane) return;
    if (!event.shiftKey) getSelection().removeAllRanges();
    if (event.target.closest('.viewer-words span')) return; // the browser selects words
    drag = { x: event.clientX, y: event.clientY, left: pane.scrollLeft, top: pane.scrollTop };
    pane.setPointerCapture(event.pointerId);
  });
  pane.addEventListener('pointermove', (event) => {
    if (!drag) return;
    pane.classList.add('dragging');
    pane.scrollLeft = drag.left - event.clientX + drag.x;
    pane.scrollTop = drag.top - event.clientY + drag.y;
  });
  for (const name of ['pointerup', 'pointercancel']) {
    pane.addEventListener(name, () => { drag = null; pane.classList.remove('dragging'); });
  }
  pane.addEventListener('dragstart', (event) => event.preventDefault());

  // The thumbnail strip: its images load when they come near the visible area, after the page
  // itself.

  const strip = query('[data-strip]');
  const thumbnails = [];
  const turnThumbnail = (link, i) => {
    const { width, height } = sizeOf(pages[i]);
    link.firstChild.style.aspectRatio = `${width} / ${height}`;
    link.firstChild.dataset.turn = pages[i].turn;
  };
  const buildStrip = () => {
    const list = strip.querySelector('ol');
    for (const [i, page] of pages.entries()) {
      const item = document.createElement('li');
      const link = document.createElement('a');
      const paper = document.createElement('span');
      const label = document.createElement('span');
      link.href = `${base}?page=${i + 1}`;
      link.dataset.n = i + 1;
      link.setAttribute('aria-label', `Page ${i + 1}`);
      paper.className = 'viewer-leaf-paper';
      label.textContent = i + 1;
      label.setAttribute('aria-hidden', 'true');
      link.append(paper, label);
      item.append(link);
      list.append(item);
      thumbnails.push(link);
      turnThumbnail(link, i);
    }
    strip.addEventListener('click', (event) => {
      const link = event.target.closest('a[data-n]');
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      goTo(Number(link.dataset.n));
      if (innerWidth < 700) showStrip(false);
    });
  };
  const thumbnailObserver = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const link = entry.target;
      const image = link.querySelector('img');
      if (entry.isIntersecting && !image) {
        const thumbnail = new Image();
        thumbnail.alt = '';
        thumbnail.fetchPriority = 'low';
        thumbnail.decoding = 'async';
        thumbnail.src = imageUrl(link.dataset.n, 200);
        link.firstChild.append(thumbnail);
      } else if (!entry.isIntersecting && image && !image.complete) {
        image.src = '';
        image.remove();
      }
    }
  }, { root: strip, rootMargin: '50% 0px' });

  let stripShown = false;
  const showStrip = (on, remember = innerWidth >= 700) => {
    if (on && !thumbnails.length) buildStrip();
    stripShown = on;
    viewer.classList.toggle('with-strip', on);
    const button = query('[data-do="strip"]');
    if (button) button.setAttribute('aria-pressed', String(on));
    if (remember) store('strip', on ? 'on' : 'off');
    for (const link of thumbnails) {
      if (on) thumbnailObserver.observe(link);
      else thumbnailObserver.unobserve(link);
    }
    updateStrip(current);
    if (ready) layout();
  };
  // On a narrow window, the thumbnails would leave too little space for the page.
  matchMedia('(max-width: 44rem)').addEventListener('change', ({ matches }) => {
    if (matches && stripShown) showStrip(false, false);
    else if (!matches && !stripShown && load('strip') === 'on') showStrip(true);
  });
  const updateStrip = (n) => {
    const before = strip.querySelector('[aria-current]');
    const link = thumbnails[n - 1];
    if (before === link) return;
    if (before) before.removeAttribute('aria-current');
    if (!link) return;
    link.setAttribute('aria-current', 'page');
    if (!stripShown) return;
    const box = link.getBoundingClientRect(), frame = strip.getBoundingClientRect();
    if (box.top < frame.top || box.bottom > frame.bottom) strip.scrollTop += box.top - frame.top - (frame.height - box.height) / 2;
    if (box.left < frame.left || box.right > frame.right) strip.scrollLeft += box.left - frame.left - (frame.width - box.width) / 2;
  };

  // Search in the document

  const panel = query('[data-hits]');
  // The page that the search result linked to. It is saved because the address changes later.
  const linkedPage = Number(new URLSearchParams(location.search).get('page'));
  // byWords says whether the server searches for the words of the phrase.
  let hits = [], hit = -1, phrase = '', byWords = false, marksByPage = new Map();

  const drawMarks = (n) => {
    const el = pageElements.get(n);
    if (!el) return;
    const box = el.querySelector('.viewer-marks');
    const marks = phrase ? marksByPage.get(n) : null;
    const key = marks ? `${phrase} ${hit}` : '';
    if (box.dataset.key === key && box.marks === marks) return;
    box.dataset.key = key;
    box.marks = marks;
    box.replaceChildren();
    if (!marks || !Array.isArray(marks)) return;
    const first = hits.findIndex((h) => h.page === n);
    for (const [i, rects] of marks.entries()) {
      for (const [left, top, right, bottom] of rects) {
        const mark = document.createElement('i');
        mark.style.left = `${left * 100}%`;
        mark.style.top = `${top * 100}%`;
        mark.style.width = `${(right - left) * 100}%`;
        mark.style.height = `${(bottom - top) * 100}%`;
        if (first + i === hit) mark.className = 'now';
        box.append(mark);
      }
    }
  };

  const loadMarks = async (n) => {
    if (marksByPage.has(n)) return marksByPage.get(n);
    const typed = phrase;
    const promise = connection.request(`${base}/pages/${n}/marks?q=${encodeURIComponent(phrase)}${byWords ? '&words=1' : ''}`)
      .then((r) => (r.ok ? r.json() : { marks: [] })).then((r) => r.marks).catch(() => []);
    marksByPage.set(n, promise);
    const marks = await promise;
    if (typed !== phrase) return [];
    marksByPage.set(n, marks);
    drawMarks(n);
    return marks;
  };

  const goToHit = async (i) => {
    if (!hits.length) return;
    const before = hit;
    hit = (i + hits.length) % hits.length;
    const { page: n } = hits[hit];
    query('[data-place]').textContent = `${hit + 1} of ${hits.length}`;
    for (const link of panel.querySelectorAll('[aria-current]')) link.removeAttribute('aria-current');
    const row = panel.querySelectorAll('li > button')[hit];
    if (row) {
      row.setAttribute('aria-current', 'true');
      row.scrollIntoView({ block: 'nearest' });
    }
    if (before >= 0 && hits[before] && hits[before].page !== n) drawMarks(hits[before].page);
    const page = pages[n - 1];
    if (current !== n && (pane.scrollTop > page.top + page.h || pane.scrollTop + pane.clientHeight < page.top)) goTo(n);
    const typed = phrase, wantedHit = hit;
    const marks = await loadMarks(n);
    if (typed !== phrase || wantedHit !== hit) return;
    announce(`Match ${hit + 1} of ${hits.length}, on page ${n}`);
    drawMarks(n);
    for (const hitPage of new Set([...hits.slice(hit, hit + 6)].map((h) => h.page))) loadMarks(hitPage);
    const rects = marks[hit - hits.findIndex((h) => h.page === n)];
    if (rects && rects.length) reveal(n, rects[0]);
    else if (current !== n) goTo(n);
  };

  // reveal scrolls a rectangle of a page into view if it isn't visible.
  const reveal = (n, [left, top, right, bottom]) => {
    const page = pages[n - 1];
    const corner = ([x, y]) => [[x, y], [1 - y, x], [1 - x, 1 - y], [y, 1 - x]][page.turn];
    const [a, b] = [corner([left, top]), corner([right, bottom])];
    const y1 = page.top + Math.min(a[1], b[1]) * page.h, y2 = page.top + Math.max(a[1], b[1]) * page.h;
    const x1 = page.left + Math.min(a[0], b[0]) * page.w, x2 = page.left + Math.max(a[0], b[0]) * page.w;
    if (y1 < pane.scrollTop + 24 || y2 > pane.scrollTop + pane.clientHeight - 24) pane.scrollTop = (y1 + y2) / 2 - pane.clientHeight * 0.4;
    if (x1 < pane.scrollLeft + 8 || x2 > pane.scrollLeft + pane.clientWidth - 8) pane.scrollLeft = (x1 + x2) / 2 - pane.clientWidth / 2;
    draw();
  };

  const closeFind = () => {
    phrase = '';
    hits = [];
    hit = -1;
    marksByPage = new Map();
    panel.hidden = true;
    finder.elements.find.value = '';
    query('[data-place]').textContent = '';
    viewer.classList.remove('finding');
    for (const n of pageElements.keys()) drawMarks(n);
    layout();
    pane.focus({ preventScroll: true });
  };

  // waitingNote says how many pages are not searchable, because the server hasn't read them yet or OCR is off.
  const waitingNote = (waiting, off) => (!waiting ? ''
    : off ? `${waiting >= pages.length ? 'This document' : `${waiting} of ${pages.length} pages`} can't be searched: OCR is off.`
    : waiting >= pages.length ? "This document is not searchable yet. The server hasn't read its scanned pages."
      : `${waiting} of ${pages.length} pages ${waiting === 1 ? 'is' : 'are'} not searchable yet.`);

  const showHits = (more, asWords, { waiting, off, textless }) => {
    const list = panel.querySelector('ol');
    const found = new Set(hits.map((h) => h.page)).size;
    const tally = hits.length
      ? `${asWords ? 'No match for the phrase. Its words: ' : ''}${more ? 'More than ' : ''}${hits.length.toLocaleString('en-US')} ${hits.length === 1 ? 'match' : 'matches'} on ${found} ${found === 1 ? 'page' : 'pages'}`
      : waiting >= pages.length ? '' : textless ? 'No text was found in this document.' : 'No matches in this document.';
    query('[data-count]').textContent = [tally + (hits.length && waiting ? '.' : ''), waitingNote(waiting, off)].filter(Boolean).join(' ');
    list.replaceChildren(...hits.map((h, i) => {
      const item = document.createElement('li');
      const button = document.createElement('button');
      const words = document.createElement('mark');
      const n = document.createElement('b');
      button.type = 'button';
      n.textContent = `Page ${h.page}`;
      words.textContent = h.match;
      button.append(n, h.before, words, h.after);
      button.addEventListener('click', () => goToHit(i));
      item.append(button);
      return item;
    }));
    panel.hidden = false;
  };

  const find = async (typed, jump = true) => {
    typed = typed.trim();
    if (!typed) { closeFind(); return; }
    if (typed === phrase) { goToHit(hit + 1); return; }
    phrase = typed;
    marksByPage = new Map();
    hits = [];
    hit = -1;
    viewer.classList.add('finding');
    query('[data-place]').textContent = '…';
    // The search page matches separate words instead of the phrase.
    const words = 'words' in viewer.dataset && typed === viewer.dataset.find.trim() ? `&words=1${linkedPage ? `&page=${linkedPage}` : ''}` : '';
    let result;
    try {
      const response = await connection.request(`${base}/find?q=${encodeURIComponent(typed)}${words}`);
      if (!response.ok && response.status !== 404) throw new Error(response.status);
      result = response.ok ? await response.json() : { hits: [], more: false, textless: true };
    } catch {
      if (typed === phrase) {
        query('[data-place]').textContent = 'no response';
        phrase = '';
      }
      return;
    }
    if (typed !== phrase) return;
    hits = result.hits;
    byWords = result.words;
    query('[data-place]').textContent = hits.length ? '' : result.waiting >= pages.length ? (result.off ? 'OCR is off' : 'not read yet') : result.textless ? 'no text' : 'no matches';
    showHits(result.more, result.words && !words && /\s/.test(typed), result);
    layout();
    paneSize = { width: pane.clientWidth, height: pane.clientHeight }; // the page in the middle need not stay there
    // The first match from the current page on; for separate words, where most of them are
    // adjacent.
    const from = Math.max(hits.findIndex((h) => h.page >= current), 0);
    const samePage = words ? hits.slice(from).filter((h) => h.page === hits[from].page) : [];
    if (jump) goToHit(from + densest(samePage.map((h) => h.match), (i) => distance(samePage[i], samePage[i + 1])));
  };

  const distance = (h, next) => {
    const n = h.after.toLowerCase().indexOf(next.match.toLowerCase());
    return n < 0 ? Infinity : n;
  };

  // clearStaleHits removes the matches of text that is no longer in the field.
  const clearStaleHits = () => {
    if (!phrase || finder.elements.find.value.trim() === phrase) return;
    phrase = '';
    hits = [];
    hit = -1;
    marksByPage = new Map();
    panel.hidden = true;
    query('[data-place]').textContent = '';
    for (const n of pageElements.keys()) drawMarks(n);
    layout();
  };

  if (finder) {
    finder.elements.find.addEventListener('input', clearStaleHits);
    finder.addEventListener('submit', (event) => {
      event.preventDefault();
      find(finder.elements.find.value);
    });
    finder.elements.find.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && event.shiftKey && hits.length && finder.elements.find.value.trim() === phrase) {
        event.preventDefault();
        goToHit(hit - 1);
      }
      if (event.key === 'Escape') {
        event.preventDefault();
        closeFind();
      }
    });
    Object.assign(actions, {
      find: () => {
        viewer.classList.add('finding');
        finder.elements.find.focus();
        finder.elements.find.select();
      },
      'find-close': closeFind,
      'hit-next': () => find(finder.elements.find.value),
      'hit-previous': () => { if (hits.length) goToHit(hit - 1); },
      leave: () => {
        if (document.querySelector('details.menu[open]')) return false;
        return phrase || viewer.classList.contains('finding') ? closeFind() : actions.back();
      },
    });
    Object.assign(keys, { '/': 'find', Enter: 'hit-next' });
  }

  // Start

  if (fit === 'none') scale = Number(load('scale')) || 1;
  updateFitButtons();
  if (load('strip') !== 'off' && innerWidth >= 1000 && pages.length > 1) showStrip(true);
  layout(null);
  goTo(current);
  ready = true;
  // Shows the image that came with the page until a sharper one is loaded.
  if (first) {
    const url = `${base}/pages/${viewer.dataset.page}?w=${new URL(first.src).searchParams.get('w')}`;
    first.className = '';
    first.alt = '';
    for (const name of ['width', 'height', 'fetchpriority']) first.removeAttribute(name);
    first.decode().then(() => {
      if (images.has(url)) return;
      images.set(url, first);
      draw();
    }, () => {});
  }
  let paneSize = { width: pane.clientWidth, height: pane.clientHeight };
  new ResizeObserver(() => {
    if (paneSize.width === pane.clientWidth && paneSize.height === pane.clientHeight) return;
    if (!pane.clientWidth || !pane.clientHeight) return; // hidden for now: keep the position
    const anchor = anchorAt(paneSize.width / 2, paneSize.height / 2);
    paneSize = { width: pane.clientWidth, height: pane.clientHeight };
    layout(anchor && { ...anchor, x: paneSize.width / 2, y: paneSize.height / 2 });
  }).observe(pane);
  pane.focus({ preventScroll: true });
  if (finder && finder.elements.find.value) find(finder.elements.find.value);

  // densest returns the first match where most words are adjacent, or else closest to each other.
  // gap returns the number of characters between two matches.
  function densest(words, gap) {
    let bestIndex = 0, bestScore = -1;
    const gapAfter = (i) => (i + 1 < words.length ? gap(i) : Infinity);
    const wordsAt = (i) => words[i].toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
    for (let i = 0; i < words.length; i++) {
      let run = wordsAt(i).length;
      for (let j = i; gapAfter(j) <= 2; j++) run += wordsAt(j + 1).length;
      const nearWords = new Set();
      for (let j = i, budget = 200; j < words.length && budget >= 0; j++) {
        for (const word of wordsAt(j)) nearWords.add(word);
        budget -= words[j].length + gapAfter(j);
      }
      const score = 100 * run + nearWords.size;
      if (score > bestScore) [bestIndex, bestScore] = [i, score];
    }
    return bestIndex;
  }

  // text handles a document that is shown as text: its matches are marked already.
  function text() {
    if (!finder) return;
    const marks = [...pane.querySelectorAll('mark')];
    let now = -1;
    const goToMark = (i) => {
      if (!marks.length) return;
      if (now >= 0) marks[now].classList.remove('now');
      now = (i + marks.length) % marks.length;
      marks[now].classList.add('now');
      marks[now].scrollIntoView({ block: 'center' });
      query('[data-place]').textContent = `${now + 1} of ${marks.length}`;
      announce(`Match ${now + 1} of ${marks.length}`);
    };
    const isStale = () => finder.elements.find.value.trim() !== viewer.dataset.find;
    // Removes the matches of the last search while a new one is typed.
    finder.elements.find.addEventListener('input', () => {
      pane.classList.toggle('stale', isStale());
      const position = query('[data-place]');
      if (position) position.textContent = isStale() ? '' : marks.length ? `${now + 1} of ${marks.length}` : 'no matches';
    });
    finder.addEventListener('submit', (event) => {
      if (isStale() || !marks.length) return;
      event.preventDefault();
      goToMark(now + 1);
    });
    Object.assign(actions, {
      find: () => { viewer.classList.add('finding'); finder.elements.find.focus(); finder.elements.find.select(); },
      'hit-next': () => finder.requestSubmit(),
      'hit-previous': () => { if (!isStale()) goToMark(now - 1); },
    });
    Object.assign(keys, { '/': 'find' });
    finder.elements.find.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      pane.focus({ preventScroll: true });
    });
    if (viewer.dataset.find) viewer.classList.add('finding');
    // The first match on or after the page in the address.
    const page = document.getElementById(`p${viewer.dataset.page}`);
    const from = Math.max(page ? marks.findIndex((mark) => page.contains(mark) || page.compareDocumentPosition(mark) & Node.DOCUMENT_POSITION_FOLLOWING) : 0, 0);
    const samePage = marks.slice(from).filter((mark) => mark.closest('article') === marks[from].closest('article'));
    const gap = (i) => {
      const next = samePage[i].nextSibling;
      if (next === samePage[i + 1]) return 0;
      return next.nextSibling === samePage[i + 1] ? next.length + (/[\p{L}\p{N}]/u.test(next.data) ? 2 : 0) : Infinity;
    };
    goToMark(from + ('words' in viewer.dataset ? densest(samePage.map((mark) => mark.textContent), gap) : 0));
  }
})();
