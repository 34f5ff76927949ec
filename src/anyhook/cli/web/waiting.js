"use strict";
// A notice links here without the secret part of the address. The browser that has opened the page knows it.

const token = localStorage.getItem("anyhook");
if (token) {
  fetch(`/${token}/approvals`).then((answer) => {
    if (answer.ok) location.replace(`/${token}/`);
  });
}
