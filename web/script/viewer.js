// The document viewer: a column of pages, rendered by the server in the width at which they are
// shown. Without this script the page shows one image and links.
(() => {
  'use strict';

  const viewer = document.querySelector('[data-viewer]');
  if (!viewer) return;
  const one = (selector) => viewer.querySelector(selector);
  const base = viewer.dataset.document;
  const pane = one('[data-pages]');

  const { keep, kept, turnedBy, keepTurned, line: lineOf } = window.viewerLine;

  const saying = one('[data-said]');
  let sayTimer = 0;
  const say = (text, after = 0) => {
    clearTimeout(sayTimer);
    sayTimer = setTimeout(() => { saying.textContent = text; }, after);
  };

  const dialog = (name) => {
    const box = one(`[data-dialog="${name}"]`);
    if (!box) return;
    box.open = false; // initially, as without this script
    box.showModal();
    const input = box.querySelector('input[name="name"]');
    if (!input) return;
    const dot = input.value.lastIndexOf('.');
    input.focus();
    input.setSelectionRange(0, dot > 0 ? dot : input.value.length);
  };

  const another = (which) => {
    const to = viewer.dataset[which];
    // Back leads to the page where the first document was opened, not through every document.
    if (to) location.replace(to);
    else say(which === 'next' ? 'This is the last document.' : 'This is the first document.');
  };

  const actions = {
    facts: () => dialog('facts'),
    rename: () => dialog('rename'),
    keys: () => dialog('keys'),
    close: (event) => event.target.closest('dialog').close(),
    back: () => location.assign(viewer.dataset.back),
    leave: () => (document.querySelector('details.menu[open]') ? false : actions.back()),
    'document-next': () => another('next'),
    'document-previous': () => another('previous'),
  };
  const keys = {
    n: 'document-next', ']': 'document-next', p: 'document-previous', '[': 'document-previous', '?': 'keys',
    u: 'back', Escape: 'leave',
  };

  viewer.addEventListener('click', (event) => {
    const button = event.target.closest('[data-do]');
    if (!button || event.ctrlKey || event.metaKey || event.shiftKey && button.href) return;
    const act = actions[button.dataset.do];
    if (!act) return;
    event.preventDefault();
    const menu = button.closest('details.menu');
    if (menu) menu.open = false;
    act(event);
  });

  const { typing } = window.deedkeep;
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey || typing(event.target)) return;
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
    const act = actions[keys[key]];
    if (!act) return;
    if (act(event) !== false) event.preventDefault();
  }, true);

  // A form that is open when the page loads was requested or has errors.
  const renaming = one('[data-dialog="rename"][open] form');
  if (renaming) {
    history.replaceState(null, '', renaming.elements.back.value);
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
    for (let i = 0; i < times; i++) pages.push({ width: width * 96 / 72, height: height * 96 / 72, pixels, turn: 0 });
  }
  const widths = JSON.parse(viewer.dataset.widths); // widths of images that the server renders
  const gap = 12;
  const least = 0.1, most = 8;
  let fit = kept('fit') || 'auto'; // auto, width, page, or none: then scale is the zoom factor
  let scale = 1;
  let turned = turnedBy(base);
  let current = Math.min(Math.max(Number(viewer.dataset.page) || 1, 1), pages.length);
  let spread = { width: 0, height: 0 };
  let ready = false; // the first page is in place

  const still = one('[data-still]');
  const first = still.querySelector('img');
  const space = document.createElement('div');
  space.className = 'viewer-space';
  still.replaceWith(space);
  viewer.dataset.live = '';

  const turnOf = (page) => (turned + page.turn) % 4;
  const sizeOf = (page) => (turnOf(page) % 2 ? { width: page.height, height: page.width } : { width: page.width, height: page.height });

  const fitted = (page, room) => {
    const { width, height } = sizeOf(page);
    const across = room.width / width;
    switch (fit) {
      case 'width': return across;
      case 'page': return Math.min(across, room.height / height);
      case 'auto': return Math.min(across, Math.max(1.25, 0.62 * across));
      default: return scale;
    }
  };

  // layout positions the pages; the page in the middle of the pane stays there.
  const layout = (anchor = where()) => {
    const room = { width: Math.max(pane.clientWidth - 2 * gap, 80), height: Math.max(pane.clientHeight - 2 * gap, 80) };
    let top = gap, widest = 0;
    for (const page of pages) {
      const size = sizeOf(page);
      page.scale = Math.min(Math.max(fitted(page, room), least), most);
      page.w = Math.round(size.width * page.scale);
      page.h = Math.round(size.height * page.scale);
      page.top = top;
      top += page.h + gap;
      widest = Math.max(widest, page.w);
    }
    spread = { width: Math.max(widest + 2 * gap, pane.clientWidth), height: top };
    space.style.width = `${spread.width > pane.clientWidth ? spread.width : pane.clientWidth}px`;
    space.style.height = `${top}px`;
    for (const page of pages) page.left = Math.round((spread.width - page.w) / 2);
    if (anchor) hold(anchor);
    one('[data-percent]').textContent = `${Math.round(pages[current - 1].scale * 100)}%`;
    if (ready) draw();
  };

  // where returns the position within a page at a point of the pane, by default its middle.
  const where = (x = pane.clientWidth / 2, y = pane.clientHeight / 2) => {
    if (!pages[0].h) return null;
    const n = at(pane.scrollTop + y);
    const page = pages[n - 1];
    return { n, x, y, fx: (pane.scrollLeft + x - page.left) / page.w, fy: (pane.scrollTop + y - page.top) / page.h };
  };
  const hold = ({ n, x, y, fx, fy }) => {
    const page = pages[n - 1];
    pane.scrollTop = page.top + fy * page.h - y;
    pane.scrollLeft = page.left + fx * page.w - x;
  };

  // at returns the page at a vertical offset.
  const at = (y) => {
    let low = 0, high = pages.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (pages[middle].top - gap / 2 <= y) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };

  // Image loading: pages in view first, two at a time; loads of pages that went out of view are
  // canceled.

  const pictures = new Map(); // address → { image, ready, pixels }
  const loading = new Map(); // address → image
  const failed = new Map(); // address → number of failures
  let wanted = [], urgent = 0; // the first urgent ones are in view
  const atOnce = 2;
  // Stops retrying an image that failed repeatedly.
  const retries = 'broken' in viewer.dataset ? 0 : 1;
  const mostPixels = 120e6;

  const step = (page) => {
    // The unrotated width decides, whichever way the page is rotated.
    const need = page.width * page.scale * Math.min(window.devicePixelRatio || 1, 3);
    const enough = page.pixels || page.width / 96 * 300;
    const want = Math.min(need * 0.92, Math.max(enough, 850));
    return widths.find((w) => w >= want) || widths[widths.length - 1];
  };
  const address = (n, width) => `${base}/pages/${n}?w=${width}`;

  // Pages that failed because the session expired or the server was unreachable are loaded when
  // that is over.
  const line = lineOf(one('.viewer-body'), () => {
    failed.clear();
    for (const image of strip.querySelectorAll('img')) {
      if (image.complete && !image.naturalWidth) image.src = image.getAttribute('src');
    }
    draw();
    if (finder && finder.elements.find.value && !hits.length) find(finder.elements.find.value);
  });

  const pump = () => {
    if (line.state()) return;
    for (const [url, image] of loading) {
      if (wanted.includes(url)) continue;
      loading.delete(url);
      image.src = '';
    }
    for (const [i, url] of wanted.entries()) {
      // Pages in view load first, alone: rendering keeps the server busy.
      if (loading.size >= atOnce || i >= urgent && wanted.slice(0, urgent).some((u) => loading.has(u))) return;
      if (pictures.has(url) || loading.has(url) || (failed.get(url) || 0) > retries) continue;
      fetchPicture(url);
    }
  };

  const fetchPicture = async (url) => {
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
      if (!await line.look()) failed.set(url, (failed.get(url) || 0) + 1);
      draw();
      await new Promise((resolve) => { setTimeout(resolve, 1500); });
      draw();
      return;
    }
    if (loading.get(url) !== image) return;
    loading.delete(url);
    failed.delete(url);
    pictures.set(url, image);
    forget();
    draw();
  };

  // forget drops the least recently used images.
  const forget = () => {
    let sum = 0;
    for (const image of pictures.values()) sum += image.naturalWidth * image.naturalHeight;
    for (const [url, image] of pictures) {
      if (sum <= mostPixels) return;
      if (wanted.includes(url) || image.isConnected) continue;
      sum -= image.naturalWidth * image.naturalHeight;
      pictures.delete(url);
    }
  };

  const best = (n, width) => {
    const exact = address(n, width);
    const image = pictures.get(exact);
    if (image) { // mark as recently used
      pictures.delete(exact);
      pictures.set(exact, image);
      return image;
    }
    for (const w of [...widths].reverse()) {
      const other = pictures.get(address(n, w));
      if (other) return other;
    }
    return null;
  };

  // Only pages in view and one on each side have an element.

  const sheets = new Map(); // n → element
  const sheet = (n) => {
    let el = sheets.get(n);
    if (el) return el;
    el = document.createElement('div');
    el.className = 'viewer-paper';
    el.setAttribute('role', 'img');
    el.setAttribute('aria-label', `Page ${n}`);
    const marks = document.createElement('div');
    marks.className = 'viewer-marks';
    el.append(marks);
    sheets.set(n, el);
    space.append(el);
    return el;
  };

  const place = (n) => {
    const page = pages[n - 1];
    const el = sheet(n);
    el.style.left = `${page.left}px`;
    el.style.top = `${page.top}px`;
    el.style.width = `${page.w}px`;
    el.style.height = `${page.h}px`;
    const turn = turnOf(page);
    const flat = turn % 2 ? { w: page.h, h: page.w } : { w: page.w, h: page.h };
    const onto = [`none`, `translate(${page.w}px, 0) rotate(90deg)`, `translate(${page.w}px, ${page.h}px) rotate(180deg)`, `translate(0, ${page.h}px) rotate(270deg)`][turn];
    const image = best(n, step(page));
    const shown = el.querySelector('img');
    if (image && shown !== image) {
      if (shown) shown.remove();
      el.prepend(image);
      el.classList.remove('failed');
    }
    const broken = (failed.get(address(n, step(page))) || 0) > retries;
    el.classList.toggle('waiting', !image && !broken && !line.state());
    el.classList.toggle('absent', !image && !broken && Boolean(line.state()));
    el.classList.toggle('failed', !image && broken);
    for (const part of el.children) {
      part.style.width = `${flat.w}px`;
      part.style.height = `${flat.h}px`;
      part.style.transform = onto;
    }
    drawMarks(n);
  };

  const draw = () => {
    const top = pane.scrollTop, bottom = top + pane.clientHeight;
    const first = at(top), last = at(bottom);
    for (const [n, el] of sheets) {
      if (n < first - 1 || n > last + 1) {
        el.remove();
        sheets.delete(n);
      }
    }
    const from = Math.max(first - 1, 1), to = Math.min(last + 1, pages.length);
    const order = [];
    for (let n = first; n <= last; n++) order.push(n);
    order.sort((a, b) => Math.abs(a - current) - Math.abs(b - current));
    urgent = order.length;
    for (const n of [last + 1, last + 2, first - 1, last + 3]) {
      if (n >= 1 && n <= pages.length) order.push(n);
    }
    wanted = order.map((n) => address(n, step(pages[n - 1])));
    for (let n = from; n <= to; n++) place(n);
    pump();
    warm();
    turnTo(seen(top, bottom, first, last));
  };

  // seen returns the page with the largest visible area, the first if several are equal.
  const seen = (top, bottom, first, last) => {
    let found = first, most = -1;
    for (let n = first; n <= last; n++) {
      const page = pages[n - 1];
      const part = Math.min(bottom, page.top + page.h) - Math.max(top, page.top);
      if (part > most + 1) [found, most] = [n, part];
    }
    return found;
  };

  // warm makes the server render the first page of the next document. It sends no content, so it is
  // not recorded as a view.
  let warmed = false;
  const warm = () => {
    if (warmed || loading.size || !viewer.dataset.warm) return;
    warmed = true;
    fetch(`${viewer.dataset.warm}?w=${step(pages[0])}`, { method: 'HEAD' }).catch(() => {});
  };

  const number = one('[data-number]');
  let told = 0;
  const turnTo = (n) => {
    if (n === told) return;
    told = n;
    current = n;
    if (document.activeElement !== number) number.value = n;
    for (const [name, off] of [['previous', n <= 1], ['next', n >= pages.length]]) {
      const link = one(`[data-do="${name}"]`);
      if (off) link.setAttribute('aria-disabled', 'true');
      else link.removeAttribute('aria-disabled');
    }
    one('[data-percent]').textContent = `${Math.round(pages[n - 1].scale * 100)}%`;
    if (ready) say(`Page ${n} of ${pages.length}`, 300);
    markStrip(n);
    remember();
  };

  // The address contains the page number, so that it can be shared.
  let rememberTimer = 0;
  const remember = () => {
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
    turnTo(n);
  };

  const turnPage = (by) => {
    const page = pages[current - 1];
    // From the middle of a long page, Previous goes to the top of the same page.
    if (by < 0 && pane.scrollTop > page.top + 0.15 * pane.clientHeight) goTo(current);
    else goTo(current + by);
  };

  // readOn scrolls by one screen, but not past the top of the next page.
  const readOn = (by) => {
    const most = 0.88 * pane.clientHeight;
    const top = pane.scrollTop;
    if (by > 0) {
      const next = pages[at(top + gap + 1)];
      const edge = next ? next.top - gap : Infinity;
      pane.scrollTop = edge > top + 2 && edge < top + most ? edge : top + most;
    } else {
      pane.scrollTop = top - most;
    }
    draw();
  };

  const across = (by) => {
    const room = pane.scrollWidth - pane.clientWidth;
    if (room < 2 || (by < 0 ? pane.scrollLeft <= 1 : pane.scrollLeft >= room - 1)) return false;
    pane.scrollLeft += by * 0.4 * pane.clientWidth;
    return true;
  };

  // Zoom

  const pressed = () => {
    for (const name of ['width', 'page']) one(`[data-do="${name}"]`).setAttribute('aria-pressed', String(fit === name));
  };
  const fitTo = (name) => {
    fit = name;
    keep('fit', name);
    pressed();
    layout();
  };
  const zoomTo = (to, anchor = where()) => {
    fit = 'none';
    scale = Math.min(Math.max(to, least), most);
    keep('fit', 'none');
    keep('scale', scale);
    pressed();
    layout(anchor);
  };
  const steps = [0.1, 0.17, 0.25, 0.33, 0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 6, 8];
  const zoomBy = (by) => {
    const now = pages[current - 1].scale;
    const to = by > 0 ? steps.find((s) => s > now * 1.02) : [...steps].reverse().find((s) => s < now * 0.98);
    if (to) zoomTo(to);
    say(`${Math.round(pages[current - 1].scale * 100)} percent`);
  };
  const rotate = (single) => {
    const anchor = where();
    const page = pages[current - 1];
    if (single) page.turn = (page.turn + 1) % 4;
    else {
      turned = (turned + 1) % 4;
      keepTurned(base, turned);
    }
    layout(null);
    goTo(anchor.n);
    say(`Turned by ${turnOf(page) * 90} degrees`);
  };

  Object.assign(actions, {
    next: () => goTo(current + 1),
    previous: () => turnPage(-1),
    right: () => across(1) || goTo(current + 1),
    left: () => across(-1) || turnPage(-1),
    // Arrow keys change the page if it fits, otherwise they scroll.
    down: () => { if (fit === 'page') goTo(current + 1); else { pane.scrollTop += 60; draw(); } },
    up: () => { if (fit === 'page') goTo(current - 1); else { pane.scrollTop -= 60; draw(); } },
    on: (event) => readOn(event.shiftKey ? -1 : 1),
    first: () => goTo(1),
    last: () => goTo(pages.length),
    in: () => zoomBy(1),
    out: () => zoomBy(-1),
    actual: () => zoomTo(1),
    width: () => fitTo('width'),
    page: () => fitTo('page'),
    rotate: (event) => rotate(event.shiftKey),
    number: () => { number.focus(); number.select(); },
    strip: () => showStrip(!stripShown),
  });
  Object.assign(keys, {
    ArrowRight: 'right', ArrowLeft: 'left', PageDown: 'next', PageUp: 'previous', ArrowDown: 'down', ArrowUp: 'up',
    ' ': 'on', Home: 'first', End: 'last', '+': 'in', '=': 'in', '-': 'out', '_': 'out', 0: 'actual', w: 'width', f: 'page',
    r: 'rotate', g: 'number', s: 'strip', j: 'next', k: 'previous',
  });

  const leaf = number.form;
  const toNumber = () => {
    const n = Number.parseInt(number.value, 10);
    if (n >= 1 && n <= pages.length) goTo(n);
    number.value = current;
  };
  leaf.addEventListener('submit', (event) => {
    event.preventDefault();
    toNumber();
    pane.focus({ preventScroll: true });
  });
  number.addEventListener('focus', () => number.select());
  number.addEventListener('blur', toNumber);
  number.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    number.value = current;
    pane.focus({ preventScroll: true });
  });

  let drawing = 0;
  pane.addEventListener('scroll', () => {
    if (drawing) return;
    drawing = requestAnimationFrame(() => { drawing = 0; draw(); });
  }, { passive: true });

  pane.addEventListener('wheel', (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = pane.getBoundingClientRect();
    const now = pages[current - 1].scale;
    zoomTo(now * Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 200), where(event.clientX - box.left, event.clientY - box.top));
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
    pinch = { length: span.length, scale: pages[current - 1].scale, anchor: where(span.x, span.y) };
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

  const strip = one('[data-strip]');
  const leaves = [];
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
      paper.style.aspectRatio = `${page.width} / ${page.height}`;
      label.textContent = i + 1;
      label.setAttribute('aria-hidden', 'true');
      link.append(paper, label);
      item.append(link);
      list.append(item);
      leaves.push(link);
    }
    strip.addEventListener('click', (event) => {
      const link = event.target.closest('a[data-n]');
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      goTo(Number(link.dataset.n));
      if (innerWidth < 700) showStrip(false);
    });
  };
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const link = entry.target;
      const image = link.querySelector('img');
      if (entry.isIntersecting && !image) {
        const picture = new Image();
        picture.alt = '';
        picture.fetchPriority = 'low';
        picture.decoding = 'async';
        picture.src = address(link.dataset.n, 200);
        link.firstChild.append(picture);
      } else if (!entry.isIntersecting && image && !image.complete) {
        image.src = '';
        image.remove();
      }
    }
  }, { root: strip, rootMargin: '50% 0px' });

  let stripShown = false;
  const showStrip = (on) => {
    if (on && !leaves.length) buildStrip();
    stripShown = on;
    viewer.classList.toggle('with-strip', on);
    const button = one('[data-do="strip"]');
    if (button) button.setAttribute('aria-pressed', String(on));
    if (innerWidth >= 700) keep('strip', on ? 'on' : 'off');
    for (const link of leaves) {
      if (on) near.observe(link);
      else near.unobserve(link);
    }
    markStrip(current);
    if (ready) layout();
  };
  const markStrip = (n) => {
    const before = strip.querySelector('[aria-current]');
    const link = leaves[n - 1];
    if (before === link) return;
    if (before) before.removeAttribute('aria-current');
    if (!link) return;
    link.setAttribute('aria-current', 'page');
    if (!stripShown) return;
    const box = link.getBoundingClientRect(), frame = strip.getBoundingClientRect();
    if (box.top < frame.top || box.bottom > frame.bottom) strip.scrollTop += box.top - frame.top - (frame.height - box.height) / 2;
  };

  // Search in the document

  const finder = one('[data-finder]');
  const panel = one('[data-hits]');
  // The page that a search result linked to. The address changes while the user reads.
  const led = Number(new URLSearchParams(location.search).get('page'));
  // asking holds what the server searches for: the phrase, or each of its words.
  let hits = [], hit = -1, phrase = '', asking = '', marksOf = new Map();

  const drawMarks = (n) => {
    const el = sheets.get(n);
    if (!el) return;
    const box = el.querySelector('.viewer-marks');
    const marks = phrase ? marksOf.get(n) : null;
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

  const marksFor = async (n) => {
    if (marksOf.has(n)) return marksOf.get(n);
    const asked = phrase;
    const promise = line.ask(`${base}/pages/${n}/marks?q=${encodeURIComponent(asking)}`)
      .then((r) => (r.ok ? r.json() : { marks: [] })).then((r) => r.marks).catch(() => []);
    marksOf.set(n, promise);
    const marks = await promise;
    if (asked !== phrase) return [];
    marksOf.set(n, marks);
    drawMarks(n);
    return marks;
  };

  const toHit = async (i) => {
    if (!hits.length) return;
    const before = hit;
    hit = (i + hits.length) % hits.length;
    const { page: n } = hits[hit];
    one('[data-place]').textContent = `${hit + 1} of ${hits.length}`;
    for (const link of panel.querySelectorAll('[aria-current]')) link.removeAttribute('aria-current');
    const row = panel.querySelectorAll('li > button')[hit];
    if (row) {
      row.setAttribute('aria-current', 'true');
      row.scrollIntoView({ block: 'nearest' });
    }
    if (before >= 0 && hits[before] && hits[before].page !== n) drawMarks(hits[before].page);
    const page = pages[n - 1];
    if (current !== n && (pane.scrollTop > page.top + page.h || pane.scrollTop + pane.clientHeight < page.top)) goTo(n);
    const asked = phrase, wantedHit = hit;
    const marks = await marksFor(n);
    if (asked !== phrase || wantedHit !== hit) return;
    say(`Hit ${hit + 1} of ${hits.length}, on page ${n}`);
    drawMarks(n);
    for (const near of new Set([...hits.slice(hit, hit + 6)].map((h) => h.page))) marksFor(near);
    const rects = marks[hit - hits.findIndex((h) => h.page === n)];
    if (rects && rects.length) reveal(n, rects[0]);
    else if (current !== n) goTo(n);
  };

  // reveal scrolls a rectangle of a page into view if it isn't visible.
  const reveal = (n, [left, top, right, bottom]) => {
    const page = pages[n - 1];
    const corner = ([x, y]) => [[x, y], [1 - y, x], [1 - x, 1 - y], [y, 1 - x]][turnOf(page)];
    const [a, b] = [corner([left, top]), corner([right, bottom])];
    const y1 = page.top + Math.min(a[1], b[1]) * page.h, y2 = page.top + Math.max(a[1], b[1]) * page.h;
    const x1 = page.left + Math.min(a[0], b[0]) * page.w, x2 = page.left + Math.max(a[0], b[0]) * page.w;
    if (y1 < pane.scrollTop + 24 || y2 > pane.scrollTop + pane.clientHeight - 24) pane.scrollTop = (y1 + y2) / 2 - pane.clientHeight * 0.4;
    if (x1 < pane.scrollLeft + 8 || x2 > pane.scrollLeft + pane.clientWidth - 8) pane.scrollLeft = (x1 + x2) / 2 - pane.clientWidth / 2;
    draw();
  };

  const endFind = () => {
    phrase = '';
    hits = [];
    hit = -1;
    marksOf = new Map();
    panel.hidden = true;
    finder.elements.find.value = '';
    one('[data-place]').textContent = '';
    viewer.classList.remove('finding');
    for (const n of sheets.keys()) drawMarks(n);
    layout();
    pane.focus({ preventScroll: true });
  };

  // passedOver says how many pages have no searchable text.
  const passedOver = (unread) => (unread
    ? ` ${unread === 1 ? '1 page has' : `${unread} pages have`} no searchable text, like a scan.` : '');

  const showHits = (more, parted, unread) => {
    const list = panel.querySelector('ol');
    const found = new Set(hits.map((h) => h.page)).size;
    one('[data-count]').textContent = hits.length
      ? `${parted ? 'Nowhere as a phrase. Its words: ' : ''}${more ? 'More than ' : ''}${hits.length.toLocaleString('en-US')} ${hits.length === 1 ? 'hit' : 'hits'} on ${found} ${found === 1 ? 'page' : 'pages'}`
      : unread >= pages.length ? 'This document has no searchable text (it is a scan). Find has nothing to look in.'
        : 'Not found in the text of this document.';
    if (unread < pages.length) one('[data-count]').textContent += (hits.length && unread ? '.' : '') + passedOver(unread);
    list.replaceChildren(...hits.map((h, i) => {
      const item = document.createElement('li');
      const button = document.createElement('button');
      const words = document.createElement('mark');
      const n = document.createElement('b');
      button.type = 'button';
      n.textContent = `Page ${h.page}`;
      words.textContent = h.match;
      button.append(n, h.before, words, h.after);
      button.addEventListener('click', () => toHit(i));
      item.append(button);
      return item;
    }));
    panel.hidden = false;
  };

  const find = async (asked, go = true) => {
    asked = asked.trim();
    if (!asked) { endFind(); return; }
    if (asked === phrase) { toHit(hit + 1); return; }
    phrase = asked;
    marksOf = new Map();
    hits = [];
    hit = -1;
    viewer.classList.add('finding');
    one('[data-place]').textContent = '…';
    // The search page found its results word by word.
    const words = 'words' in viewer.dataset && asked === viewer.dataset.find.trim() ? `&words=1${led ? `&page=${led}` : ''}` : '';
    let answer;
    try {
      const reply = await line.ask(`${base}/find?q=${encodeURIComponent(asked)}${words}`);
      if (!reply.ok && reply.status !== 404) throw new Error(reply.status);
      answer = reply.ok ? await reply.json() : { hits: [], more: false, unread: pages.length };
    } catch {
      if (asked === phrase) {
        one('[data-place]').textContent = 'no answer';
        phrase = '';
      }
      return;
    }
    if (asked !== phrase) return;
    hits = answer.hits;
    asking = answer.words || asked;
    const unread = answer.unread || 0;
    one('[data-place]').textContent = hits.length ? '' : unread >= pages.length ? 'no text' : 'not found';
    showHits(answer.more, answer.words && !words && /\s/.test(asked), unread);
    layout();
    room = { width: pane.clientWidth, height: pane.clientHeight }; // the page in the middle need not stay there
    // The first match from the current page on; for separate words, where most of them are
    // adjacent.
    const from = Math.max(hits.findIndex((h) => h.page >= current), 0);
    const there = words ? hits.slice(from).filter((h) => h.page === hits[from].page) : [];
    if (go) toHit(from + densest(there.map((h) => h.match), (i) => distance(there[i], there[i + 1])));
  };

  const distance = (h, next) => {
    const n = h.after.toLowerCase().indexOf(next.match.toLowerCase());
    return n < 0 ? Infinity : n;
  };

  // lapse removes the matches of text that is no longer in the field.
  const lapse = () => {
    if (!phrase || finder.elements.find.value.trim() === phrase) return;
    phrase = '';
    hits = [];
    hit = -1;
    marksOf = new Map();
    panel.hidden = true;
    one('[data-place]').textContent = '';
    for (const n of sheets.keys()) drawMarks(n);
    layout();
  };

  if (finder) {
    finder.elements.find.addEventListener('input', lapse);
    finder.addEventListener('submit', (event) => {
      event.preventDefault();
      find(finder.elements.find.value);
    });
    finder.elements.find.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && event.shiftKey && hits.length && finder.elements.find.value.trim() === phrase) {
        event.preventDefault();
        toHit(hit - 1);
      }
      if (event.key === 'Escape') {
        event.preventDefault();
        endFind();
      }
    });
    Object.assign(actions, {
      find: () => {
        viewer.classList.add('finding');
        finder.elements.find.focus();
        finder.elements.find.select();
      },
      'find-close': endFind,
      'hit-next': () => find(finder.elements.find.value),
      'hit-previous': () => { if (hits.length) toHit(hit - 1); },
      leave: () => {
        if (document.querySelector('details.menu[open]')) return false;
        return phrase || viewer.classList.contains('finding') ? endFind() : actions.back();
      },
    });
    Object.assign(keys, { '/': 'find', Enter: 'hit-next' });
  }

  // Start

  if (fit === 'none') scale = Number(kept('scale')) || 1;
  pressed();
  if (kept('strip') !== 'off' && innerWidth >= 1000 && pages.length > 1) showStrip(true);
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
      if (pictures.has(url)) return;
      pictures.set(url, first);
      draw();
    }, () => {});
  }
  let room = { width: pane.clientWidth, height: pane.clientHeight };
  new ResizeObserver(() => {
    if (room.width === pane.clientWidth && room.height === pane.clientHeight) return;
    if (!pane.clientWidth || !pane.clientHeight) return; // hidden for now: keep the position
    const anchor = where(room.width / 2, room.height / 2);
    room = { width: pane.clientWidth, height: pane.clientHeight };
    layout(anchor && { ...anchor, x: room.width / 2, y: room.height / 2 });
  }).observe(pane);
  pane.focus({ preventScroll: true });
  if (finder && finder.elements.find.value) find(finder.elements.find.value);

  // densest returns the first match where most words are adjacent, or else closest to each other.
  // gap returns the number of characters between two matches.
  function densest(words, gap) {
    let best = 0, most = -1;
    const between = (i) => (i + 1 < words.length ? gap(i) : Infinity);
    const each = (i) => words[i].toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
    for (let i = 0; i < words.length; i++) {
      let run = each(i).length;
      for (let j = i; between(j) <= 2; j++) run += each(j + 1).length;
      const near = new Set();
      for (let j = i, room = 200; j < words.length && room >= 0; j++) {
        for (const word of each(j)) near.add(word);
        room -= words[j].length + between(j);
      }
      const worth = 100 * run + near.size;
      if (worth > most) [best, most] = [i, worth];
    }
    return best;
  }

  // text handles a document that is shown as text: its matches are marked already.
  function text() {
    const finder = one('[data-finder]');
    if (!finder) return;
    const marks = [...pane.querySelectorAll('mark')];
    let now = -1;
    const toMark = (i) => {
      if (!marks.length) return;
      if (now >= 0) marks[now].classList.remove('now');
      now = (i + marks.length) % marks.length;
      marks[now].classList.add('now');
      marks[now].scrollIntoView({ block: 'center' });
      one('[data-place]').textContent = `${now + 1} of ${marks.length}`;
      say(`Hit ${now + 1} of ${marks.length}`);
    };
    const stale = () => finder.elements.find.value.trim() !== viewer.dataset.find;
    // Removes the matches of the last search while a new one is typed.
    finder.elements.find.addEventListener('input', () => {
      pane.classList.toggle('stale', stale());
      const place = one('[data-place]');
      if (place) place.textContent = stale() ? '' : marks.length ? `${now + 1} of ${marks.length}` : 'not found';
    });
    finder.addEventListener('submit', (event) => {
      if (stale() || !marks.length) return;
      event.preventDefault();
      toMark(now + 1);
    });
    Object.assign(actions, {
      find: () => { viewer.classList.add('finding'); finder.elements.find.focus(); finder.elements.find.select(); },
      'hit-next': () => finder.requestSubmit(),
      'hit-previous': () => { if (!stale()) toMark(now - 1); },
    });
    Object.assign(keys, { '/': 'find' });
    finder.elements.find.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      pane.focus({ preventScroll: true });
    });
    if (viewer.dataset.find) viewer.classList.add('finding');
    // The first match from the page on that the address names.
    const page = document.getElementById(`p${viewer.dataset.page}`);
    const from = Math.max(page ? marks.findIndex((mark) => page.contains(mark) || page.compareDocumentPosition(mark) & Node.DOCUMENT_POSITION_FOLLOWING) : 0, 0);
    const there = marks.slice(from).filter((mark) => mark.closest('article') === marks[from].closest('article'));
    const gap = (i) => {
      const next = there[i].nextSibling;
      if (next === there[i + 1]) return 0;
      return next.nextSibling === there[i + 1] ? next.length + (/[\p{L}\p{N}]/u.test(next.data) ? 2 : 0) : Infinity;
    };
    toMark(from + ('words' in viewer.dataset ? densest(there.map((mark) => mark.textContent), gap) : 0));
  }
})();
