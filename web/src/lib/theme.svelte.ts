// The colours in force, for what is drawn on a canvas. The styles have them as variables.

const dark = window.matchMedia('(prefers-color-scheme: dark)');

export const theme = $state({ name: dark.matches ? 'dark' : 'light' });
dark.addEventListener('change', () => {
  cached = undefined;
  theme.name = dark.matches ? 'dark' : 'light';
});

interface Inks {
  text: string;
  faint: string;
  grid: string;
  paper: string;
  curves: string[];
}

let cached: Inks | undefined;

export function inks(): Inks {
  if (cached) return cached;
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const curves = [1, 2, 3, 4, 5, 6].map((n) => read(`curve-${n}`));
  return (cached = {
    text: read('text'),
    faint: read('faint'),
    grid: read('grid'),
    paper: read('paper'),
    curves,
  });
}
