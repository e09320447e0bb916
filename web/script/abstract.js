// One abstract: fields edited where they stand, documents put into order. Without this
// script each of it is a form or a link.
(() => {
  'use strict';

  const said = (text) => {
    const line = document.getElementById('documents-said');
    if (line) line.textContent = text;
  };

  // The order of the documents: what is shown here is sent as it stands.
  const list = () => document.getElementById('document-list');
  const rows = () => [...list().querySelectorAll(':scope > [data-file]')];
  const nameOf = (row) => row.querySelector('.document-name')?.textContent.trim() || 'The document';
  const send = () => {
    window.htmx.ajax('POST', list().dataset.order, {
      target: '#documents-state', swap: 'outerHTML',
      values: { files: rows().map((row) => row.dataset.file).join(',') },
    });
  };
  const tell = (row) => said(`${nameOf(row)} is number ${rows().indexOf(row) + 1} of ${rows().length} now.`);

  document.addEventListener('click', (event) => {
    const button = event.target.closest('#document-list button[name="up"], #document-list button[name="down"]');
    if (!button || !window.htmx) return;
    const row = button.closest('[data-file]');
    const up = button.name === 'up';
    const beside = up ? row.previousElementSibling : row.nextElementSibling;
    if (!beside) return; // onto another page, or nowhere: the form knows
    event.preventDefault();
    if (up) beside.before(row); else beside.after(row);
    button.focus();
    tell(row);
    send();
  });

  const drag = () => {
    const ol = list();
    if (!ol || !window.Sortable || !ol.querySelector('.handle') || window.Sortable.get(ol)) return;
    window.Sortable.create(ol, {
      handle: '.handle', draggable: '[data-file]', animation: 120,
      onEnd: (event) => {
        if (event.oldIndex === event.newIndex) return;
        tell(event.item);
        send();
      },
    });
  };

  // When the list comes anew, rows that are as they were stay: no picture is loaded
  // again, no form is closed.
  document.addEventListener('htmx:oobBeforeSwap', (event) => {
    const { target, fragment } = event.detail;
    if (target.id !== 'document-list') return;
    for (const row of fragment.querySelectorAll('[data-file]')) {
      const shown = document.getElementById(row.id);
      if (shown && shown.dataset.is === row.dataset.is) row.replaceWith(shown);
    }
  });

  // A click on a value opens the form of its group there; one that chooses text, or a
  // second click, does not.
  let opening = 0;
  document.addEventListener('click', (event) => {
    clearTimeout(opening);
    const value = event.target.closest('.group dd[data-field]');
    const way = value?.closest('.group').querySelector('[id^="edit-"]');
    if (!way || !window.htmx || event.detail !== 1 || event.target.closest('a, button')) return;
    opening = setTimeout(() => {
      if (String(window.getSelection())) return;
      const url = `${way.getAttribute('hx-get')}&field=${encodeURIComponent(value.dataset.field)}`;
      window.htmx.ajax('GET', url, { target: way.getAttribute('hx-target'), swap: 'outerHTML' });
    }, 250);
  });

  // Escape leaves a form as its Cancel does.
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    const form = event.target.closest('[data-editing]');
    const cancel = form?.querySelector('[data-cancel]');
    if (!cancel) return;
    event.preventDefault();
    if ('touched' in form.dataset && !window.confirm('Leave without saving what you wrote?')) return;
    delete form.dataset.touched;
    cancel.click();
  });

  // What was typed and not saved is not lost without a question.
  document.addEventListener('input', (event) => {
    const form = event.target.closest('[data-editing]');
    if (form) form.dataset.touched = '';
  });
  for (const over of ['submit', 'click']) {
    document.addEventListener(over, (event) => {
      const form = over === 'submit' ? event.target : event.target.closest('[data-cancel]')?.closest('[data-editing]');
      if (form) delete form.dataset.touched;
    });
  }
  window.addEventListener('beforeunload', (event) => {
    if (document.querySelector('[data-editing][data-touched]')) event.preventDefault();
  });

  // A change that somebody else came before is answered with the form and both values.
  document.addEventListener('htmx:beforeSwap', (event) => {
    if (event.detail.xhr.status === 412 && event.detail.target.matches('.group')) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    }
  });

  const ready = () => {
    drag();
    for (const group of document.querySelectorAll('.group')) group.classList.toggle('opens', Boolean(group.querySelector('[id^="edit-"]')));
    const name = document.querySelector('[data-stem]:not([data-ready])');
    if (name) {
      name.dataset.ready = '';
      name.focus();
      const end = name.value.lastIndexOf('.');
      name.setSelectionRange(0, end > 0 ? end : name.value.length);
    }
  };
  document.addEventListener('htmx:afterSettle', ready);
  ready();
})();
