// @ts-check
// Text of the document for the form in the panel: what is selected, and the text of the page that is shown.
import { formatDate } from './instrument.js';
import { typing } from './page.js';
import { viewer } from './viewer.js';
import { panel, query, request, shownPage, state } from './viewer-panel-base.js';
import { record } from './viewer-panel-history.js';

let selected = ''; // text that was selected in the document

const noteSelection = () => {
  const selection = getSelection();
  const text = String(selection);
  if (!text.trim() || !selection.anchorNode) return;
  const place = selection.anchorNode.parentElement;
  if (place?.closest('[data-pages], [data-hits], [data-page-text]') && !typing(place)) selected = text;
};
document.addEventListener('selectionchange', noteSelection);
export const takeSelection = () => {
  noteSelection();
  const input = state.lastField?.isConnected ? state.lastField : null;
  if (!selected || !input) return false;
  const lines = input.matches('textarea');
  let text = selected.replace(/\r/g, '').trim();
  text = lines ? text.replace(/[^\S\n]+/g, ' ') : text.replace(/\s+/g, ' ');
  // In a sentence, a comma often follows a name or number.
  text = text.replace(/[,;]+$/, '');
  // A field of names gets one name per line.
  if (
    input.matches('#instrument-grantors, #instrument-grantees') &&
    input.value &&
    input.selectionStart === input.value.length &&
    !input.value.endsWith('\n')
  )
    text = `\n${text}`;
  input.focus();
  input.setRangeText(text, input.selectionStart, input.selectionEnd, 'end');
  record();
  formatDate(input);
  record(input.name);
  return true;
};

// The text of the page that is shown

const textBox = query('details[data-page-text]');
let textOf = 0;
export const loadText = async () => {
  const n = shownPage();
  if (!textBox?.open || panel.hidden || textOf === n) return;
  textOf = n;
  const box = textBox.querySelector('pre');
  const response = await request(`${viewer.dataset.document}/pages/${n}/text`);
  if (textOf !== n) return;
  if (!response?.ok) {
    textOf = 0;
    return;
  }
  const { text } = await response.json();
  box.textContent =
    text.trim() || "This page has no searchable text. It may be a scan that the server hasn't read yet.";
};
textBox?.addEventListener('toggle', loadText);
let textTimer = 0;
viewer.addEventListener('viewer:shown', () => {
  clearTimeout(textTimer);
  textTimer = setTimeout(loadText, 200);
});
