/**
 * Tells the window's size once it has not changed for a moment. What it returns
 * ends the listening.
 */
export function onWindowSize(tell: (width: number, height: number) => void, pause = 400): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const resized = () => {
    clearTimeout(timer);
    timer = setTimeout(() => tell(window.innerWidth, window.innerHeight), pause);
  };
  window.addEventListener('resize', resized);
  return () => {
    clearTimeout(timer);
    window.removeEventListener('resize', resized);
  };
}
