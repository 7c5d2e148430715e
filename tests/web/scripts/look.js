async ([seen, kept]) => {
  const drawn = async url => {
    const image = new Image();
    image.src = url;
    await image.decode();
    return image;
  };
  const pixels = (image, width, height) => {
    const canvas = Object.assign(document.createElement('canvas'), {width, height});
    const context = canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, width, height);
    return canvas;
  };
  const now = await drawn(seen);
  const width = Math.round(now.width / 4), height = Math.round(now.height / 4);
  const small = pixels(now, width, height);
  if (kept === null) return small.toDataURL('image/webp', 0.85);
  const before = await drawn(kept);
  if (before.width !== width || before.height !== height) return 100;
  const [one, other] = [small, pixels(before, width, height)].map(
    canvas => canvas.getContext('2d').getImageData(0, 0, width, height).data);
  let differ = 0;
  for (let at = 0; at < one.length; at += 4) {
    const by = [0, 1, 2].map(colour => Math.abs(one[at + colour] - other[at + colour]));
    if (Math.max(...by) > 20) differ += 1;
  }
  return 100 * differ / (width * height);
}
