import { render } from "preact";

import { Operator } from "./operator";

const root = document.getElementById("app");
if (root) render(<Operator />, root);
