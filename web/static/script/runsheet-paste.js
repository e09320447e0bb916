// @ts-check
// Rows pasted from a spreadsheet.
import * as sheet from './runsheet.js';
import { post, problemOf, show } from './runsheet-requests.js';

// preview shows what pasted rows would add. Its form checks them again in place, until they are added.
/**
 * @param {string} text
 * @param {string} column
 */
export const preview = async (text, column) => {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-label', 'Paste rows');
  const cancelButton = document.createElement('button');
  cancelButton.type = 'button';
  cancelButton.textContent = 'Cancel';
  cancelButton.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => {
    dialog.remove();
    sheet.select(sheet.active);
  });
  /** @param {any} values */
  const check = async (values) => {
    const response = await post(`${sheet.section.dataset.path}/instruments/paste`, values, 'text/html');
    const html = await response.text();
    if (!response.ok && response.status !== 422) throw new Error(problemOf(response.status, html));
    dialog.replaceChildren(...new DOMParser().parseFromString(html, 'text/html').body.childNodes);
    let buttons = dialog.querySelector('.form-actions');
    if (!buttons) {
      buttons = document.createElement('div');
      buttons.className = 'form-actions';
      dialog.append(buttons);
    }
    buttons.prepend(cancelButton);
  };
  /** @param {unknown} error */
  const textOf = (error) =>
    error instanceof TypeError
      ? "The server isn't responding. Try again in a moment."
      : /** @type {Error} */ (error).message;
  /**
   * @param {HTMLFormElement} form
   * @param {HTMLElement} [button]
   */
  const again = async (form, button) => {
    const values = new FormData(form, button);
    const active = /** @type {HTMLInputElement} */ (document.activeElement);
    const focused = active?.name || active?.id;
    try {
      await check(values);
    } catch (error) {
      const line = document.createElement('p');
      line.className = 'problem';
      line.setAttribute('role', 'alert');
      line.textContent = textOf(error);
      form.querySelector('[role="alert"]')?.remove();
      form.prepend(line);
      return;
    }
    /** @type {NodeListOf<HTMLInputElement | HTMLSelectElement | HTMLButtonElement>} */
    const controls = dialog.querySelectorAll('input, select, button');
    const same = [...controls].find((control) => focused && control.name === focused);
    (dialog.querySelector('[aria-invalid]') ?? same ?? dialog.querySelector('button.primary') ?? cancelButton).focus();
  };
  dialog.addEventListener('submit', (event) => {
    if (event.submitter?.getAttribute('name') === 'confirm') return;
    event.preventDefault();
    again(event.target, event.submitter);
  });
  dialog.addEventListener('change', (event) => {
    if (event.target.name?.startsWith('field.') || event.target.matches('tbody th select')) again(event.target.form);
  });
  try {
    await check({ text, column });
  } catch (error) {
    show('problem', textOf(error));
    return;
  }
  document.body.append(dialog);
  dialog.showModal();
  (dialog.querySelector('[aria-invalid]') ?? dialog.querySelector('button.primary') ?? cancelButton).focus();
};
