// [data-all] checks or clears every box of its form. Shift-click also sets all boxes since the last
// click.
// The form dispatches the event deedkeep:chosen after each change.
(() => {
  'use strict';

  const headOf = (form) => [...form.elements].find((el) => el.matches('[data-all]'));
  const boxesOf = (form) => [...form.elements].filter((el) => el.type === 'checkbox' && !el.matches('[data-all]'));

  const tell = (form) => {
    const head = headOf(form);
    if (!head) return;
    const boxes = boxesOf(form);
    const ticked = boxes.filter((box) => box.checked).length;
    head.checked = ticked > 0 && ticked === boxes.length;
    head.indeterminate = ticked > 0 && ticked < boxes.length;
    form.dispatchEvent(new CustomEvent('deedkeep:chosen', { bubbles: true }));
  };
  const tellAll = () => {
    for (const form of document.forms) tell(form);
  };

  document.addEventListener('change', (event) => {
    const box = event.target;
    if (box.type !== 'checkbox' || !box.form) return;
    if (box.matches('[data-all]')) {
      for (const one of boxesOf(box.form)) one.checked = box.checked;
    }
    tell(box.form);
  });

  let last = null; // the box that was clicked last
  document.addEventListener('click', (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement) || box.type !== 'checkbox' || !box.form || box.matches('[data-all]')) return;
    const boxes = boxesOf(box.form);
    if (event.shiftKey && last && boxes.includes(last)) {
      const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
      for (const one of boxes.slice(from, to + 1)) one.checked = box.checked;
      tell(box.form);
    }
    last = box;
  });

  document.addEventListener('htmx:afterSettle', tellAll);
  tellAll();
})();
