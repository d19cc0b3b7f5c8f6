// Shows the frame that was drawn for the places of the controls.
explore((view, frames, places) => {
  const shown = view.querySelector(".explore-frame");
  shown.ariaLive = "polite"; // a screen reader says what has changed
  shown.innerHTML = frames[places.join(",")];
});
