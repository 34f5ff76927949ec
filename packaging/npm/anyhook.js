#!/usr/bin/env node
// anyhook.js: starts the anyhook that is on the PATH, or says how to install it. It downloads nothing.
"use strict";
const { spawnSync } = require("child_process");
const { accessSync, constants, readFileSync, statSync } = require("fs");
const { constants: { signals } } = require("os");
const path = require("path");

// Links and scripts that npm, pnpm or yarn made for this package name this file or are it.
function isAnother(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile() && !readFileSync(file).includes("anyhook.js");
  } catch {
    return false;
  }
}

const folders = (process.env.PATH || "").split(path.delimiter).filter(Boolean);
const found = folders.map((folder) => path.join(folder, "anyhook")).find(isAnother);
if (!found) {
  console.error("anyhook is not installed here. It is a program in Python; install it with one of these, then call it again:\n" +
    "  pipx install anyhook\n  uv tool install anyhook");
  process.exit(127);
}
const done = spawnSync(found, process.argv.slice(2), { stdio: "inherit" });
if (done.error) {
  console.error(`${found} cannot be started: ${done.error.message}`);
}
process.exit(done.error ? 126 : done.status === null ? 128 + signals[done.signal] : done.status);
