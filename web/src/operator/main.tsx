import { render } from "preact";

import { dress } from "../appearance";
import { language } from "../strings";
import { Operator } from "./operator";

dress();
document.documentElement.lang = language;
const root = document.getElementById("app");
if (root) render(<Operator />, root);
