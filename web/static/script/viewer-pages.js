// @ts-check
// A document shown as a column of page images, which the server renders at the displayed width.

import { isSide } from './page.js';
import { base, finder, query, viewer } from './viewer.js';
import { load } from './viewer-connection.js';
import { find } from './viewer-find.js';
import { column, layout, pages, view, watchPane } from './viewer-geometry.js';
import { addImage } from './viewer-images.js';
import { goTo } from './viewer-navigation.js';
import { showStrip } from './viewer-strip.js';
import { updateFitButtons } from './viewer-zoom.js';
import './viewer-highlight.js';
import './viewer-rotation.js';

const staticView = query('[data-still]');
const first = staticView.querySelector('img');
staticView.replaceWith(column);
viewer.dataset.live = '';

if (view.fit === 'none') view.scale = Number(load('scale')) || 1;
updateFitButtons();
if (load('strip') !== 'off' && innerWidth >= 1000 && pages.length > 1) showStrip(true, !isSide);
layout(null);
goTo(view.current);
view.ready = true;
// Shows the image that came with the page until a sharper one is loaded.
if (first) {
  const url = `${base}/pages/${viewer.dataset.page}?w=${new URL(first.src).searchParams.get('w')}`;
  first.className = '';
  first.alt = '';
  for (const name of ['width', 'height', 'fetchpriority']) first.removeAttribute(name);
  first.decode().then(
    () => addImage(url, first),
    () => {},
  );
}
watchPane();
if (finder?.elements.find.value) find(finder.elements.find.value);
