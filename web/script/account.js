// Shows and hides typed passwords, and counts down the time until the next sign-in attempt.
(() => {
  'use strict';

  for (const input of document.querySelectorAll('input[data-reveal]')) {
    const label = document.createElement('label');
    const box = document.createElement('input');
    label.className = 'check';
    box.type = 'checkbox';
    label.append(box, ' Show what I type');
    box.addEventListener('change', () => {
      for (const each of input.form.querySelectorAll('input[data-reveal], input[data-reveal-with]')) {
        each.type = box.checked ? 'text' : 'password';
      }
    });
    // Restores type="password" before submitting, so that browsers offer to save the password.
    input.form.addEventListener('submit', () => {
      box.checked = false;
      box.dispatchEvent(new Event('change'));
    });
    input.closest('.field').after(label);
  }

  for (const button of document.querySelectorAll('button[data-wait]')) {
    const words = button.textContent;
    const until = Date.now() + Number(button.dataset.wait) * 1000;
    button.disabled = true;
    const tick = () => {
      const left = Math.ceil((until - Date.now()) / 1000);
      if (left > 0) {
        const clock = left > 90 ? `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}` : `${left} s`;
        button.textContent = `${words} (in ${clock})`;
        setTimeout(tick, 250);
        return;
      }
      button.disabled = false;
      button.textContent = words;
      const problem = button.form.querySelector('.problem');
      if (problem) problem.textContent = 'You can try again now.';
    };
    tick();
  }

  for (const button of document.querySelectorAll('[data-print]')) {
    button.hidden = false;
    button.addEventListener('click', () => window.print());
  }
})();
