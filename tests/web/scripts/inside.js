known => {
  const inWindow = box => box.width > 0 && box.top >= 0 && box.left >= 0
    && box.bottom <= innerHeight + 1 && box.right <= innerWidth + 1;
  const shows = (root, text) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const at = walker.currentNode.data.indexOf(text);
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at + text.length);
      const box = range.getBoundingClientRect();
      const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
      if (inWindow(box) && top && walker.currentNode.parentElement.contains(top)) return true;
    }
    return false;
  };
  const heads = [...document.querySelectorAll('h1.identity, dialog[open] .sheet-who')];
  return known.filter(text => !heads.some(head => shows(head, text)));
}
