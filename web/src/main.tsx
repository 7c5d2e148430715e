import { render } from "preact";

import { App } from "./app";
import { language } from "./strings";

document.documentElement.lang = language;
const root = document.getElementById("app");
if (root) render(<App />, root);
