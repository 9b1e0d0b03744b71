import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["**/bundles/", "build/", "docs/", ".venv/"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2025, sourceType: "module" },
    rules: {
      "eqeqeq": ["error", "always", { null: "ignore" }],
      "no-control-regex": "off", // texts are searched for control characters
      "no-shadow": ["error", { builtinGlobals: false }],
      "no-use-before-define": ["error", { functions: false, variables: false }],
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "no-var": "error",
      "prefer-const": "error",
      "max-len": ["error", { code: 160, ignoreTemplateLiterals: true }],
    },
  },
  { files: ["registry/**/*.js"], languageOptions: { globals: globals.browser } },
  { files: ["tests/javascript/**/*.js", "eslint.config.js"], languageOptions: { globals: globals.node } },
];
