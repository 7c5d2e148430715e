import { render } from "preact";

import { language } from "../strings";
import { Operator } from "./operator";

document.documentElement.lang = language;
const root = document.getElementById("app");
if (root) render(<Operator />, root);
