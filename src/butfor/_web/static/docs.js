// Examples name the address by which this page was reached: behind a proxy the server does not know it.

const { address = "" } = document.body.dataset;
const reached = new URL("./", location.href).href;
for (const example of document.querySelectorAll("pre code")) {
  example.textContent = example.textContent.replace(address, reached);
}
