/** The bytes of a file as base64. Rejects with its name when it can't be read. */
export function base64(content: Blob, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      const url = String(reader.result);
      resolve(url.slice(url.indexOf(',') + 1));
    };
    // A folder that was dropped, or a file that vanished meanwhile.
    reader.onerror = () => reject(new Error(`${name} can't be read. Is it a folder, or gone?`));
    reader.readAsDataURL(content);
  });
}
