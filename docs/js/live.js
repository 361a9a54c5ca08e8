// Puts the page that simulates in the place of its picture, which stays without JavaScript.
for (const place of document.querySelectorAll('.live')) {
  const frame = document.createElement('iframe');
  frame.title = place.querySelector('img').alt;
  frame.loading = 'lazy';
  frame.src = `simulate.html#${place.dataset.shown}`;
  frame.addEventListener('load', () => {
    // A page from disk is a stranger to the frame, which then scrolls.
    const inside = frame.contentDocument?.documentElement;
    const fit = () => (frame.style.height = `${inside.offsetHeight}px`);
    if (inside) new ResizeObserver(fit).observe(inside);
  });
  place.replaceChildren(frame);
}
