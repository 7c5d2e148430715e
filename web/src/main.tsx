import { render } from "preact";

import { App } from "./app";
import { dress } from "./appearance";
import { keepShell } from "./install";
import { language } from "./strings";

dress();
document.documentElement.lang = language;
const root = document.getElementById("app");
if (root) render(<App />, root);
keepShell();
