// The head of each view's script: finds the data and the controls beside it, and calls
// draw(view, data, places) at once and after each change; a place is a control's choice.
function explore(draw) {
  const view = document.currentScript.parentElement;
  const data = JSON.parse(view.querySelector("script[type='application/json']").text);
  const controls = [...view.querySelectorAll("select, input")];
  const update = () => {
    for (const control of controls) {
      const shown = control.parentElement.querySelector("output");
      if (shown) shown.value = JSON.parse(control.dataset.values)[control.value];
    }
    draw(view, data, controls.map((control) => Number(control.value)));
  };
  for (const control of controls) control.addEventListener("input", update);
  update();
}
