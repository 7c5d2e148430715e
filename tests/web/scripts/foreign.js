() => {
  const known = new Set(['A','BLOCKQUOTE','BR','BUTTON','CODE','DEL','DIV','EM','H1','H2','H3','H4',
    'H5','H6','HR','LI','OL','P','PRE','STRONG','TABLE','TBODY','TD','TH','THEAD','TR','UL']);
  const wrong = [];
  for (const one of document.querySelectorAll('.prose *')) {
    if (!known.has(one.tagName)) wrong.push(one.tagName);
    if (one.hasAttribute('href')) wrong.push(one.getAttribute('href'));
    for (const {name} of one.attributes) if (/^(on|style|src)/.test(name)) wrong.push(name);
  }
  return wrong;
}
