// Edits the runsheet in place: cells, new rows, rows pasted from a spreadsheet, the sequence, and the
// trash. Without scripts, users can do the same with forms.
(() => {
  'use strict';

  const sheet = window.runsheet;
  if (!sheet?.editable) return;
  const { section, table, body, headers, fields, columnCount } = sheet;
  const path = section.dataset.path;

  // ---- messages and requests

  const show = (kind, text, label, act) => {
    const box = document.createElement('div');
    box.className = kind;
    box.setAttribute('role', kind === 'notice' ? 'status' : 'alert');
    const line = document.createElement('span');
    line.textContent = text;
    box.append(line);
    if (label) {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'quiet';
      button.textContent = label;
      button.addEventListener('click', act);
      box.append(button);
    }
    document.getElementById('runsheet-notices').replaceChildren(box);
  };
  const clearMessages = () => document.getElementById('runsheet-notices').replaceChildren();

  const post = (address, values, accept) => fetch(address, {
    method: 'POST', body: new URLSearchParams(values), headers: { 'HX-Request': 'true', Accept: accept },
  });
  // problemOf returns the message in a response that has no data.
  const problemOf = (status, text) => {
    if (status === 401) return 'You were signed out. Sign in again in a new tab, then try again. What you typed is still here.';
    const message = new DOMParser().parseFromString(text, 'text/html').querySelector('.problem');
    return message?.textContent.trim() || 'Something went wrong. Reload the page and try again.';
  };
  // send sends a form and returns the state in the response. The state has a problem if it failed.
  const send = async (address, values) => {
    try {
      const response = await post(address, values, 'application/json');
      const text = await response.text();
      if (response.headers.get('Content-Type')?.startsWith('application/json')) return JSON.parse(text);
      return { problem: problemOf(response.status, text) };
    } catch {
      return { problem: "The server isn't responding. What you typed is still here. Try again in a moment." };
    }
  };

  // Requests are sent one after another, so that the cells of a new row find their instrument.
  let queue = Promise.resolve();
  let queued = 0;
  const enqueue = (work) => {
    queued++;
    queue = queue.then(work).catch((error) => {
      show('problem', 'Something went wrong. Reload the page and try again.');
      console.error(error);
    }).finally(() => { queued--; });
  };

  // ---- rows from the server

  const isSaved = (tr) => /^\d+$/.test(tr.dataset.id);
  const nameOf = (cell) => {
    const number = cell.parentElement.querySelector('.number')?.textContent;
    return `${number ? 'Row ' + number : 'New row'}, ${headers[cell.cellIndex].textContent}`;
  };
  const parseRow = (html) => {
    const holder = document.createElement('template');
    holder.innerHTML = html;
    return holder.content.querySelector('tr');
  };
  const shownText = (cell) => cell.dataset.edit ?? cell.textContent.trim();

  let editor = null; // the open editor: {cell, input, was, content}
  const unsaved = new Map(); // cells that are not saved yet: {value, was, content}

  const updateRow = (tr, fresh) => {
    tr.id = fresh.id;
    for (const name of ['id', 'category', 'status']) tr.dataset[name] = fresh.dataset[name];
    [...fresh.cells].forEach((cell, n) => {
      const old = tr.cells[n];
      const holders = [unsaved.get(old), editor?.cell === old && editor].filter(Boolean);
      if (holders.length) {
        for (const holder of holders) holder.content = [...cell.childNodes];
        if ('label' in cell.dataset) old.dataset.label = cell.dataset.label;
        if ('edit' in cell.dataset) old.dataset.edit = cell.dataset.edit;
        return;
      }
      for (const name of ['data-label', 'data-edit', 'class']) {
        if (cell.hasAttribute(name)) old.setAttribute(name, cell.getAttribute(name)); else old.removeAttribute(name);
      }
      old.replaceChildren(...cell.childNodes);
    });
    sheet.prepare(tr);
  };
  const newRow = () => document.getElementById('instrument-new');
  const apply = (state, tr) => {
    for (const row of state.rows ?? []) {
      const fresh = parseRow(row.html);
      const current = row.id === state.id && tr ? tr : document.getElementById(fresh.id);
      if (current) {
        updateRow(current, fresh);
      } else {
        sheet.prepare(fresh);
        newRow().before(fresh);
      }
    }
    if (state.sequence) sheet.update(state.sequence, state.gaps, tr);
  };

  // ---- editing a cell

  const canEdit = (cell) => cell && sheet.isRow(cell.parentElement) && cell.cellIndex < columnCount
    && !['number', 'documents'].includes(fields[cell.cellIndex]);

  const control = (field) => {
    if (field === 'status') {
      const list = document.createElement('select');
      for (const [value, text] of [['', 'Automatic'], ['open', 'Open'], ['released', 'Released'], ['expired', 'Expired'],
        ['not_applicable', 'Not applicable']]) list.add(new Option(text, value));
      return list;
    }
    const input = document.createElement(field === 'remarks' ? 'textarea' : 'input');
    input.autocomplete = 'off';
    input.spellcheck = field === 'remarks';
    if (field === 'type') input.setAttribute('list', 'runsheet-types');
    if (field === 'consideration') input.inputMode = 'decimal';
    return input;
  };
  let entering = false; // Tab goes from cell to cell once the user has edited one
  const open = (cell, typed) => {
    if (!canEdit(cell)) return;
    sheet.select(cell);
    const failed = unsaved.get(cell);
    const input = control(fields[cell.cellIndex]);
    input.setAttribute('aria-label', nameOf(cell));
    input.value = failed?.value ?? shownText(cell);
    if (typed !== undefined && input.tagName !== 'SELECT') input.value = typed;
    editor = { cell, input, was: failed?.was ?? shownText(cell), content: failed?.content ?? [...cell.childNodes] };
    cell.replaceChildren(input);
    cell.removeAttribute('aria-invalid');
    input.focus();
    if (typed === undefined && input.select) input.select();
    entering = true;
    input.addEventListener('blur', () => {
      if (editor?.input === input && document.hasFocus()) commit();
    });
  };
  const close = (...content) => {
    const { cell } = editor;
    editor = null;
    cell.replaceChildren(...content);
    sheet.prepare(cell);
  };
  const cancel = () => {
    const { cell, content } = editor;
    if (unsaved.delete(cell) && !unsaved.size) clearMessages();
    cell.classList.remove('unsaved');
    close(...content);
  };
  const commit = () => {
    const { cell, input, was, content } = editor;
    const value = input.value.trim();
    if (value === was) {
      cancel();
      return;
    }
    const entry = { value, was, content };
    close(input.selectedOptions ? input.selectedOptions[0].text : value);
    unsaved.set(cell, entry);
    cell.classList.add('unsaved');
    save(cell, entry);
  };
  // startRow makes the blank row at the end a row of its own and adds another blank one.
  const startRow = (tr) => {
    const blank = tr.cloneNode(true);
    for (const cell of [...blank.cells].slice(1)) {
      cell.replaceChildren();
      cell.removeAttribute('tabindex');
      cell.classList.remove('unsaved');
    }
    tr.removeAttribute('id');
    tr.className = '';
    tr.dataset.id = 'pending';
    tr.after(blank);
    document.getElementById('runsheet-empty')?.remove();
  };
  const save = (cell, entry) => {
    const tr = cell.parentElement;
    if (tr === newRow()) startRow(tr);
    enqueue(async () => {
      if (unsaved.get(cell) !== entry) return; // the user changed the cell again
      const address = isSaved(tr) ? `/instruments/${tr.dataset.id}/cell` : `${path}/instruments/row`;
      const state = await send(address, { field: fields[cell.cellIndex], value: entry.value, was: entry.was });
      const fresh = (state.rows ?? []).filter((row) => row.id === state.id).map((row) => parseRow(row.html))[0]?.cells[cell.cellIndex];
      const later = unsaved.get(cell);
      if (fresh && later) later.was = shownText(fresh);
      if (editor?.cell === cell && fresh) editor.was = shownText(fresh);
      if (state.problem) {
        apply(state, tr);
        if (later === entry) fail(cell, state.problem);
        return;
      }
      if (later === entry) {
        unsaved.delete(cell);
        cell.classList.remove('unsaved');
      }
      apply(state, tr);
      if (!unsaved.size) clearMessages();
    });
  };
  // fail marks a cell that was not saved. Unless the user is typing elsewhere, it opens again.
  const fail = (cell, problem) => {
    cell.classList.remove('unsaved');
    cell.setAttribute('aria-invalid', 'true');
    show('problem', `${nameOf(cell)}: ${problem}`, 'Go to cell', () => open(cell));
    const focused = document.activeElement;
    if (!editor && (focused === document.body || body.contains(focused))) open(cell);
  };

  // ---- keys

  const next = (cell, by) => {
    do {
      const { parentElement: tr, cellIndex } = cell;
      cell = tr.cells[cellIndex + by];
      if (!cell || cell.cellIndex >= columnCount) {
        const other = sheet.step(tr, by);
        cell = other?.cells[by > 0 ? 0 : columnCount - 1];
      }
    } while (cell && !canEdit(cell));
    return cell;
  };
  const editKey = (event) => {
    const { cell, input } = editor;
    if (event.key === 'Escape') {
      cancel();
      sheet.select(cell);
    } else if (event.key === 'Enter' && event.altKey && input.tagName === 'TEXTAREA') {
      input.setRangeText('\n', input.selectionStart, input.selectionEnd, 'end');
    } else if (event.key === 'Enter' && !event.altKey) {
      commit();
      sheet.select(cell);
    } else if (event.key === 'Tab') {
      commit();
      sheet.select(next(cell, event.shiftKey ? -1 : 1) ?? cell);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  let lastUndo = ''; // address that restores the row that was deleted last
  const cellKey = (event, cell) => {
    const tr = cell.parentElement;
    const command = event.ctrlKey || event.metaKey;
    if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
      moveRow(tr, event.key === 'ArrowUp' ? -1 : 1);
    } else if (event.key === 'Insert' || command && event.key === 'Enter') {
      sheet.select(newRow().cells[1]);
    } else if (event.key === 'Delete' && (command || fields[cell.cellIndex] === 'number')) {
      trash(tr);
    } else if (command && event.key.toLowerCase() === 'z' && lastUndo) {
      restore(lastUndo);
    } else if (command || event.altKey) {
      return;
    } else if (event.key === 'Enter' && fields[cell.cellIndex] === 'number') {
      tr.querySelector('.actions a')?.click();
    } else if ((event.key === 'Enter' || event.key === 'F2') && canEdit(cell)) {
      open(cell);
    } else if ((event.key === 'Delete' || event.key === 'Backspace') && canEdit(cell) && tr !== newRow()) {
      open(cell, '');
      if (fields[cell.cellIndex] !== 'status') commit();
      sheet.select(cell);
    } else if (event.key === 'Tab' && entering && next(cell, event.shiftKey ? -1 : 1)) {
      sheet.select(next(cell, event.shiftKey ? -1 : 1));
    } else if (event.key.length === 1 && event.key !== ' ' && canEdit(cell)) {
      open(cell, event.key);
    } else {
      return;
    }
    event.preventDefault();
  };
  table.addEventListener('keydown', (event) => {
    if (event.isComposing || event.defaultPrevented || !event.key) return;
    if (editor?.input === event.target) editKey(event);
    else if (event.target === sheet.active()) cellKey(event, event.target);
  });
  table.addEventListener('dblclick', (event) => {
    const cell = event.target.closest('td');
    if (cell && !editor && canEdit(cell) && !event.target.closest('a, button')) open(cell);
  });
  document.addEventListener('focusin', (event) => {
    if (!table.contains(event.target)) entering = false;
  });
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.key?.toLowerCase() !== 'n') return;
    if (window.deedkeep.typing(event.target)) return;
    event.preventDefault();
    sheet.select(newRow().cells[1]);
  });

  // ---- sequence

  const afterMove = (tr) => {
    const list = sheet.rows();
    const position = list.indexOf(tr) + 1;
    sheet.renumber(list.map((row) => row.dataset.id));
    sheet.announce(`Moved to position ${position} of ${list.length}.`);
    enqueue(async () => {
      const state = await send(`/instruments/${tr.dataset.id}/move`, { position });
      if (state.problem) show('problem', state.problem, 'Reload the page', () => location.reload());
      else if (queued === 1) apply(state);
    });
  };
  const moveRow = (tr, by) => {
    if (!sheet.isPlain()) {
      show('warning', 'Rows can be moved only in the runsheet sequence. Select “Back to runsheet sequence” first.');
      return;
    }
    const other = sheet.step(tr, by);
    if (!other || !isSaved(other) || !isSaved(tr)) return;
    if (by < 0) other.before(tr); else other.after(tr);
    sheet.select(sheet.active());
    afterMove(tr);
  };
  if (window.Sortable) {
    window.Sortable.create(body, {
      handle: '.row-handle', draggable: 'tr[data-id]:not(.new-row)', animation: 0,
      onEnd: (event) => { if (event.oldIndex !== event.newIndex) afterMove(event.item); },
    });
  }

  // ---- trash

  const trash = (tr) => {
    if (!isSaved(tr)) return;
    enqueue(async () => {
      const state = await send(`/instruments/${tr.dataset.id}/trash`, {});
      if (state.problem) {
        show('problem', state.problem);
        return;
      }
      const at = sheet.active()?.cellIndex ?? 1;
      if (tr.contains(sheet.active()) || tr.contains(document.activeElement)) sheet.select((sheet.step(tr, 1) || sheet.step(tr, -1)).cells[at]);
      for (const cell of tr.cells) unsaved.delete(cell);
      tr.remove();
      apply(state);
      lastUndo = state.undo;
      show('notice', state.notice, 'Undo', () => restore(state.undo));
    });
  };
  const restore = (address) => {
    lastUndo = '';
    enqueue(async () => {
      const state = await send(address, {});
      if (state.problem) {
        show('problem', state.problem);
        return;
      }
      apply(state);
      show('notice', state.notice);
      sheet.select(document.getElementById('instrument-' + state.id)?.cells[1]);
    });
  };
  table.addEventListener('click', (event) => {
    const button = event.target.closest('button[formaction$="/trash"]');
    if (!button) return;
    event.preventDefault();
    trash(button.closest('tr'));
  });

  // ---- clipboard

  const preview = async (text, column) => {
    const dialog = document.createElement('dialog');
    dialog.setAttribute('aria-label', 'Paste rows');
    dialog.setAttribute('closedby', 'any');
    const cancelButton = document.createElement('button');
    cancelButton.type = 'button';
    cancelButton.textContent = 'Cancel';
    cancelButton.addEventListener('click', () => dialog.close());
    dialog.addEventListener('close', () => {
      dialog.remove();
      sheet.select(sheet.active());
    });
    let html;
    try {
      const response = await post(`${path}/instruments/paste`, { text, column }, 'text/html');
      html = await response.text();
      if (!response.ok && response.status !== 422) throw new Error(problemOf(response.status, html));
    } catch (error) {
      show('problem', error instanceof TypeError ? "The server isn't responding. Try again in a moment." : error.message);
      return;
    }
    dialog.append(...new DOMParser().parseFromString(html, 'text/html').body.childNodes);
    let buttons = dialog.querySelector('.form-actions');
    if (!buttons) {
      buttons = document.createElement('div');
      buttons.className = 'form-actions';
      dialog.append(buttons);
    }
    buttons.prepend(cancelButton);
    document.body.append(dialog);
    dialog.showModal();
    (dialog.querySelector('button.primary') ?? cancelButton).focus();
  };
  document.addEventListener('paste', (event) => {
    const cell = sheet.active();
    if (!cell || document.activeElement !== cell) return;
    const text = event.clipboardData.getData('text/plain');
    if (!text.trim()) return;
    event.preventDefault();
    if (/[\t\n]/.test(text.trim())) preview(text, fields[cell.cellIndex]);
    else open(cell, text.trim());
  });
  document.addEventListener('copy', (event) => {
    const cell = sheet.active();
    if (!cell || document.activeElement !== cell || String(window.getSelection())) return;
    event.preventDefault();
    event.clipboardData.setData('text/plain', cell.innerText.trim());
  });

  // Asks before entries that aren't saved are lost.
  window.addEventListener('beforeunload', (event) => {
    if (queued || unsaved.size || editor && editor.input.value.trim() !== editor.was) event.preventDefault();
  });
})();
