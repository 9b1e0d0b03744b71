// Bundles the modules of the pages, each page's into one script.
//
//     node tests/javascript/bundle.js [FOLDER]
//
// `make js` runs it after a change; tests/javascript/test_javascript.py checks that the committed bundles are current.

import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const page = new URL("../../registry/reports/page/", import.meta.url);

await build({
  entryPoints: ["page", "site"].map(name => fileURLToPath(new URL(`scripts/${name}.js`, page))),
  outdir: process.argv[2] ?? fileURLToPath(new URL("bundles/", page)),
  bundle: true,
  charset: "utf8", // texts of the page are readable, and take fewer bytes
  format: "iife",
  legalComments: "none",
  target: "es2022",
});
